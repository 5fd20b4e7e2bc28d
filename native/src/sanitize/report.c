/* Linked into the sanitizer build of the programs only: the supervisor's descriptors 0-2 lead nowhere, so reports go to files (R-MECH-2). */

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	/* Programs that forbid to be looked at cannot be searched for leaks from inside; valgrind does that (.ci/sanitize). */
	return "log_path=" REPORT ":detect_leaks=0";
}

const char *__ubsan_default_options(void)
{
	return "log_path=" REPORT ":print_stacktrace=1";
}
