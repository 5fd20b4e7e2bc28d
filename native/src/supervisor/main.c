/* The native supervisor of one run (R-MECH-1). */
int main(void)
{
	return 0;
}
