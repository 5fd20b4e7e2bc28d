/* Who a group really is (C-TRUST-1): the accounts whose primary group it is, and everybody on its member lists. */
#include "addon.h"
#include "proc-table.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

struct members {
	napi_env env;
	napi_value names, uids, unresolved;
	uint32_t name_count, uid_count, unresolved_count;
};

static bool add_text(napi_env env, napi_value list, uint32_t *count, const char *text)
{
	napi_value value = make_string(env, text, NAPI_AUTO_LENGTH);
	return value && napi_set_element(env, list, (*count)++, value) == napi_ok;
}

static bool add_uid(struct members *members, uid_t uid)
{
	napi_value value = make_number(members->env, uid);
	return value && napi_set_element(members->env, members->uids, members->uid_count++, value) == napi_ok;
}

/* Asking for an account while the group list is being walked is allowed: the two walks have their own places. */
static bool add_listed(struct members *members, char **names)
{
	for (; *names; names++) {
		errno = 0;
		const struct passwd *account = getpwnam(*names);
		bool is_added = account ? add_uid(members, account->pw_uid) : add_text(members->env, members->unresolved, &members->unresolved_count, *names);
		if (!is_added)
			return false;
	}
	return true;
}

/* Two entries may carry one number: every one of them is read, not only the first that getgrgid would give. */
static int walk_groups(struct members *members, gid_t gid, bool *is_made)
{
	const struct group *entry;
	setgrent();
	for (errno = 0; *is_made && (entry = getgrent()); errno = 0) {
		if (entry->gr_gid == gid)
			*is_made = add_text(members->env, members->names, &members->name_count, entry->gr_name) && add_listed(members, entry->gr_mem);
	}
	int error = *is_made ? errno : 0;
	endgrent();
	return error == ENOENT ? 0 : error;
}

static int walk_accounts(struct members *members, gid_t gid, bool *is_made)
{
	const struct passwd *account;
	setpwent();
	for (errno = 0; *is_made && (account = getpwent()); errno = 0) {
		if (account->pw_gid == gid)
			*is_made = add_uid(members, account->pw_uid);
	}
	int error = *is_made ? errno : 0;
	endpwent();
	return error == ENOENT ? 0 : error;
}

/* groupMembers(gid): C-TRUST-1. */
napi_value group_members(napi_env env, napi_callback_info info)
{
	napi_value args[1], result;
	int64_t gid;
	struct members members = {.env = env};
	if (!take_args(env, info, 1, args) || !take_integer(env, args[0], 0, UINT32_MAX, &gid))
		return NULL;
	if (napi_create_object(env, &result) != napi_ok || napi_create_array(env, &members.names) != napi_ok ||
		napi_create_array(env, &members.uids) != napi_ok || napi_create_array(env, &members.unresolved) != napi_ok) {
		return NULL;
	}
	bool is_made = true;
	int error = walk_groups(&members, (gid_t)gid, &is_made);
	if (!error && is_made)
		error = walk_accounts(&members, (gid_t)gid, &is_made);
	if (error)
		return throw_errno(env, error, "getgrent", NULL);
	bool is_whole = is_made && set_property(env, result, "names", members.names) && set_property(env, result, "uids", members.uids) &&
		set_property(env, result, "unresolved", members.unresolved);
	return is_whole ? result : NULL;
}
