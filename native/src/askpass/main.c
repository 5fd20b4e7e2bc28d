/*
 * bailiff-askpass: answers git's two questions for one origin, and no other.
 *
 * C-HARD-6. The program holds no secret. BAILIFF_ASKPASS_ORIGIN (`https://host[:port]`) and BAILIFF_ASKPASS_LOGIN say whom it
 * speaks for; the token comes once over the inherited pipe 3. Anything but the exact prompts ends with 1 and without a word, so
 * that a redirect to another host gets nothing (measured: programs that look at the first word only give the token away).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CHANNEL = 3,
	MAX_TOKEN = 4096,
	MAX_PROMPT = 8192,
};

static const char scheme[] = "https://";

static bool is_prompt(const char *prompt, const char *format, const char *user, const char *host)
{
	char expected[MAX_PROMPT];
	int length = snprintf(expected, sizeof expected, format, user, host);

	return length > 0 && (size_t)length < sizeof expected && strcmp(prompt, expected) == 0;
}

static bool write_fully(const char *bytes, size_t count)
{
	while (count > 0) {
		ssize_t done = write(STDOUT_FILENO, bytes, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		count -= (size_t)done;
	}
	return true;
}

/* The whole of the pipe; 0 where there is none, it is empty, too long, or holds what no token holds. */
static size_t read_token(char *token)
{
	struct stat status;
	size_t length = 0;

	/* Never a file: a descriptor that stands there by mistake is not ours to print. */
	if (fstat(CHANNEL, &status) != 0 || !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
		return 0;
	while (length <= MAX_TOKEN) {
		ssize_t done = read(CHANNEL, token + length, MAX_TOKEN + 1 - length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return 0;
		if (done == 0)
			break;
		length += (size_t)done;
	}
	if (length > MAX_TOKEN)
		return 0;
	for (size_t i = 0; i < length; i++) {
		if (token[i] < 0x21 || token[i] > 0x7e)
			return 0;
	}
	return length;
}

static int answer_token(void)
{
	char token[MAX_TOKEN + 2];
	size_t length = read_token(token);
	bool is_written = false;

	if (length > 0) {
		token[length] = '\n';
		is_written = write_fully(token, length + 1);
	}
	explicit_bzero(token, sizeof token);
	return is_written ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	const struct rlimit none = {0, 0};
	const char *origin = getenv("BAILIFF_ASKPASS_ORIGIN");
	const char *login = getenv("BAILIFF_ASKPASS_LOGIN");

	/* Another process of this user reads neither our memory nor a core of it. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || setrlimit(RLIMIT_CORE, &none) != 0)
		return EXIT_FAILURE;
	if (argc != 2 || origin == NULL || login == NULL || *login == '\0' || strncmp(origin, scheme, sizeof scheme - 1) != 0)
		return EXIT_FAILURE;

	const char *host = origin + sizeof scheme - 1;

	if (*host == '\0' || strpbrk(host, "/@'") != NULL)
		return EXIT_FAILURE;
	if (is_prompt(argv[1], "Username for '%shttps://%s': ", "", host))
		return write_fully(login, strlen(login)) && write_fully("\n", 1) ? EXIT_SUCCESS : EXIT_FAILURE;
	if (is_prompt(argv[1], "Password for 'https://%s@%s': ", login, host))
		return answer_token();
	return EXIT_FAILURE;
}
