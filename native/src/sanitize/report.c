/* Linked into the sanitizer build of the supervisor only: its descriptors 0-2 lead nowhere, so reports go to files (R-MECH-2). */

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "log_path=" REPORT ":detect_leaks=1";
}

const char *__ubsan_default_options(void)
{
	return "log_path=" REPORT ":print_stacktrace=1";
}
