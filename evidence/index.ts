/** The verifier and the shapes of evidence: what `bailiff/evidence` gives. */
export {type ArchiveRequest} from './archive-reader.ts';
export {type ManifestV1, type ManifestV2, manifestV1Schema, manifestV2Schema} from './archive-schema.ts';
export {type Attestation, attestationNamespace, attestRun} from './attest.ts';
export {readSigningKey, readTrustedKey, readTrustFile, type SigningKey} from './attestation-keys.ts';
export {buildClaims, claimPointers} from './claims.ts';
export {type CapturedCommand, type CapturedOutput, type CommandFiles, scanCommandFiles, writeCommandFiles} from './command-files.ts';
export {
	type JsonSchema,
	ledgerLineJsonSchema,
	manifestJsonSchema,
	manifestV1JsonSchema,
	manifestV2JsonSchema,
	planJsonSchema,
	reportJsonSchema,
} from './json-schema.ts';
export {KnownValues, noKnownValues} from './known-values.ts';
export {LedgerWriter, type WrittenLine} from './ledger.ts';
export {type LedgerEntry, type LedgerRun, type ParsedLedger, parseLedger} from './ledger-lines.ts';
export {type LedgerLine, ledgerLineSchema} from './ledger-schema.ts';
export {type ListedRun, listRuns, type RunList, type RunState} from './list.ts';
export {filterRuns, type RunFilter} from './list-filter.ts';
export {buildCommandRecord, buildManifest, type CommandFacts, type EndedFacts, type ManifestFacts, manifestBytes, manifestLimits} from './manifest.ts';
export {
	type Claim,
	type CommandRecord,
	type Manifest,
	manifestDecimalKeys,
	manifestSchema,
	type OutputFile,
	type Resources,
	type SandboxRecord,
	type Status,
	type Stop,
	type Termination,
	type TraceLine,
	type Trigger,
} from './manifest-schema.ts';
export {outputPaths} from './output-paths.ts';
export {containmentOf, parsePlan, planLimits, type ResolvedCommand, type ResolvedLimits, type ResolvedPlan, type ResolvedSandbox, resolvePlan} from './plan.ts';
export {defaultPath, type Layer, type Limits, type Plan, type PlanCommand, planDecimalKeys, planSchema, type SandboxProfile} from './plan-schema.ts';
export {scanPlan} from './plan-secrets.ts';
export type {SourceReader, SshSignatures, SshVerdict, StorePrimitives} from './ports.ts';
export {isNotice} from './problem-list.ts';
export type {Problem, ProblemCode} from './problems.ts';
export {type RenderedReport, type ReportFormat, reportFormats, reportRun} from './report/render.ts';
export type {Report} from './report/report-schema.ts';
export type {OutputScan} from './run-reader.ts';
export {secretRuleSet} from './secret-rules.ts';
export {findSecrets, type ScannedOutput, type SecretHit, scanOutput} from './secret-scan.ts';
export {readSensitiveFile} from './sensitive-file.ts';
export {type OutputChoice, readRunOutput, type ShownCommand, type ShownOutput, type ShownRun, showRun} from './show.ts';
export {mayContinueAfter} from './stop-rules.ts';
export {type IncompleteRun, listIncomplete, RunStage, type StoredFile} from './store.ts';
export {type ValidateAnswer, type ValidateRequest, validateRun} from './validate.ts';
export {validateArchivedV2} from './validate-archived-v2.ts';
export {validateLegacy} from './validate-legacy.ts';
export {type VerificationPlace, verificationPlace} from './verification-directory.ts';
export {type AttestationAnswer, type AttestationTrust, verifyAttestation} from './verify-attestation.ts';
export {type ChildEnd, readWaitStatus, signalName} from './wait-status.ts';
