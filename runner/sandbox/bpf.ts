import {BailiffError} from '../../core/errors.ts';

/** What the kernel does with a system call. `allow` and `kill` end the question; a number is the errno that the caller sees. */
export type Verdict = 'allow' | 'kill' | number;

/**
 * A question about the arguments of one system call; every path ends in a verdict.
 * Arguments are compared by their low 32 bits, as the kernel itself reads `int` and `unsigned int` parameters: a caller cannot hide a value by setting high bits.
 */
export type Decision =
	| Verdict
	| {
			/** Index of the argument, 0-5. */
			readonly argument: number;
			/** Applied before the comparison; all 32 bits where absent. */
			readonly mask?: number;
			readonly cases: ReadonlyArray<readonly [value: number, then: Decision]>;
			readonly otherwise: Decision;
	  };

/** One rule: what to do with the system call `number`. */
export type SyscallRule = {readonly number: number; readonly decision: Decision};

/** What a filter is made of: everything that no rule names is allowed, up to the highest number that we know. */
export type FilterSource = {
	/** AUDIT_ARCH_*; a call by any other ABI kills the process. */
	readonly auditArch: number;
	/** Calls above this number answer ENOSYS, so that nothing newer than our table gets through unseen (x32 calls are among them). */
	readonly highestNumber: number;
	readonly rules: readonly SyscallRule[];
};

type Instruction = {readonly code: number; readonly jumpTrue: number; readonly jumpFalse: number; readonly value: number};

const loadWord = 0x20;
const andConstant = 0x54;
const jumpEqual = 0x15;
const jumpGreater = 0x25;
const returnConstant = 0x06;

const offsetNumber = 0;
const offsetArch = 4;
const offsetArguments = 16;

const actionAllow = 0x7fff_0000;
const actionKillProcess = 0x8000_0000;
const actionErrno = 0x0005_0000;
const errnoEnosys = 38;
const maxInstructions = 4096;

/**
 * Assembles a filter to the bytes of an array of `struct sock_filter` (little-endian, eight bytes each).
 *
 * Refuses: RUN_SANDBOX_FILTER where a decision is too long for the eight-bit jumps of classic BPF, or the whole for the kernel.
 * Source: S-MECH-3; Linux seccomp(2), struct seccomp_data.
 */
export function assembleFilter(source: FilterSource): Buffer {
	const program: Instruction[] = [
		load(offsetArch),
		jump(jumpEqual, source.auditArch, {whenTrue: 1, whenFalse: 0}),
		verdict('kill'),
		load(offsetNumber),
		jump(jumpGreater, source.highestNumber, {whenTrue: 0, whenFalse: 1}),
		verdict(errnoEnosys),
	];
	for (const rule of source.rules) {
		const body = assembleDecision(rule.decision);
		program.push(jump(jumpEqual, rule.number, {whenTrue: 0, whenFalse: body.length}), ...body);
	}

	program.push(verdict('allow'));
	if (program.length > maxInstructions) {
		throw new BailiffError('RUN_SANDBOX_FILTER', `a filter of ${program.length} instructions is longer than the ${maxInstructions} that the kernel takes`);
	}

	return encode(program);
}

function assembleDecision(decision: Decision): Instruction[] {
	if (typeof decision !== 'object') {
		return [verdict(decision)];
	}

	const body = [load(offsetArguments + 8 * decision.argument)];
	if (decision.mask !== undefined) {
		body.push({code: andConstant, jumpTrue: 0, jumpFalse: 0, value: decision.mask});
	}

	for (const [value, then] of decision.cases) {
		const branch = assembleDecision(then);
		body.push(jump(jumpEqual, value, {whenTrue: 0, whenFalse: branch.length}), ...branch);
	}

	return [...body, ...assembleDecision(decision.otherwise)];
}

function load(offset: number): Instruction {
	return {code: loadWord, jumpTrue: 0, jumpFalse: 0, value: offset};
}

function jump(code: number, value: number, to: {readonly whenTrue: number; readonly whenFalse: number}): Instruction {
	if (to.whenTrue > 255 || to.whenFalse > 255) {
		throw new BailiffError('RUN_SANDBOX_FILTER', `a jump over ${Math.max(to.whenTrue, to.whenFalse)} instructions is longer than the 255 of classic BPF`);
	}

	return {code, jumpTrue: to.whenTrue, jumpFalse: to.whenFalse, value};
}

function verdict(action: Verdict): Instruction {
	const value = action === 'allow' ? actionAllow : action === 'kill' ? actionKillProcess : actionErrno + action;
	return {code: returnConstant, jumpTrue: 0, jumpFalse: 0, value};
}

function encode(program: readonly Instruction[]): Buffer {
	const bytes = Buffer.alloc(program.length * 8);
	for (const [index, instruction] of program.entries()) {
		const at = index * 8;
		bytes.writeUInt16LE(instruction.code, at);
		bytes.writeUInt8(instruction.jumpTrue, at + 2);
		bytes.writeUInt8(instruction.jumpFalse, at + 3);
		bytes.writeUInt32LE(instruction.value, at + 4);
	}

	return bytes;
}
