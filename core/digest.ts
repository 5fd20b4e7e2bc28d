import {createHash} from 'node:crypto';

/** Lower-case hexadecimal SHA-256 of the bytes (a string is taken as UTF-8). */
export function sha256Hex(bytes: Uint8Array | string): string {
	return createHash('sha256').update(bytes).digest('hex');
}
