/** The version of bailiff as package.json states it (kept equal by a test), so that nobody has to read a file at start-up. */
export const version = '0.1.0';
