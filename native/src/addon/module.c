/* The table of what the addon offers; native/index.ts gives each its type. */
#include "addon.h"

/* Raised whenever a function changes, so that a stale build is told apart from a missing one (R-MECH-6). */
enum { ADDON_VERSION = 4 };

static const struct {
	const char *name;
	napi_callback call;
} functions[] = {
	{"scan", scan_processes},
	{"setSubreaper", set_subreaper},
	{"isSubreaper", is_subreaper},
	{"setSealed", set_sealed},
	{"isSealed", is_sealed},
	{"reapChild", reap_child},
	{"signalProcess", signal_process},
	{"resourceLimit", resource_limit},
	{"openNoLinks", open_no_links},
	{"openLock", open_lock},
	{"tryLock", try_lock},
	{"renameNoReplace", rename_no_replace},
	{"syncDirectory", sync_directory},
	{"syncFilesystem", sync_filesystem},
	{"hasAccessList", has_access_list},
	{"groupMembers", group_members},
	{"listenUnix", listen_unix},
	{"connectUnix", connect_unix},
	{"socketPair", socket_pair},
	{"acceptSocket", accept_socket},
	{"peerUid", peer_uid},
	{"sendBytes", send_bytes},
	{"receiveBytes", receive_bytes},
	{"shutdownSocket", shutdown_socket},
	{"waitReadable", wait_readable},
};

NAPI_MODULE_INIT()
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		napi_value function;
		if (napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call, NULL, &function) != napi_ok ||
			!set_property(env, exports, functions[i].name, function)) {
			return NULL;
		}
	}
	return set_property(env, exports, "version", make_number(env, ADDON_VERSION)) ? exports : NULL;
}
