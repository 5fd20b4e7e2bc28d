import * as z from 'zod';
import {commitIdPattern, ownerProblem, repositoryProblem, runIdPattern, runIdProblem} from '../core/ids.ts';

/** The atoms of shapes.ts that plan, manifest and ledger share. */
export const sha256Form = z.string().regex(/^[0-9a-f]{64}$/);
/** A full commit or tree id. */
export const commitIdForm = z.string().regex(commitIdPattern);
/** RFC 3339, UTC, milliseconds. */
export const rfc3339Form = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
/** A path inside the run directory. */
export const relPathForm = z.string().regex(/^[a-z0-9_-][a-z0-9._-]*(?:\/[a-z0-9_-][a-z0-9._-]*)*$/);
/** A run id (E-PUB-4). */
export const runIdForm = z.string().refine(text => runIdProblem(text) === null, 'not a run id');
/** A command id. */
export const commandIdForm = z.string().regex(runIdPattern);
/** An owner name (C-ID-1). */
export const ownerForm = z.string().refine(text => ownerProblem(text) === null, 'not a safe owner name (C-ID-1)');
/** A repository name (C-ID-1). */
export const repositoryForm = z.string().refine(text => repositoryProblem(text) === null, 'not a safe repository name (C-ID-1)');
/** A count, size or number of milliseconds. */
export const countForm = z.int().min(0);
/** An issue number. */
export const issueForm = z.int().min(1);
/** Symbolic errno. */
export const errnoForm = z.string().regex(/^E[A-Z0-9]{1,31}$/);
/** Text without a NUL character, as a system call needs it. */
export const noNulForm = z.string().regex(/^[^\u0000]*$/);
