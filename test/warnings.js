// Loaded by AVA before each test file: a warning of Node (deprecation, listener leak, unsettled promise) fails the file that caused it.
process.on('warning', warning => {
	throw warning;
});
