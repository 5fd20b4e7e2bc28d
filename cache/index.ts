export {type Admission, type AdmissionSnapshot, type ApprovalRule, admit, assertSameSnapshot, issueBodySha256, readAdmission} from './approval.ts';
export type {
	Account,
	AdvertisedRefs,
	Approval,
	ApprovalKind,
	Authority,
	Branch,
	GitAccess,
	Issue,
	ProviderKind,
	Repository,
	RepositoryRef,
} from './authority.ts';
export type {AuthoritySession, AuthorityState} from './authority-state.ts';
export {readAuthorityState} from './authority-state.ts';
export {type Base, type BaseQuestion, type BaseRelation, type BaseSource, chooseBase, readBaseRelation} from './base-choice.ts';
export {bootstrapMirror} from './bootstrap.ts';
export {type BrokerOptions, type BrokerReady, serveBroker} from './broker.ts';
export {BrokerClient} from './broker-client.ts';
export {brokerRolePattern, readHandle} from './broker-handle.ts';
export {probeLock} from './broker-probe.ts';
export {type BrokerQuestion, brokerLimits, probedResources} from './broker-protocol.ts';
export type {LeaseEnd} from './broker-server.ts';
export {openTenancy, type Tenancy, type TenancyRequest} from './broker-tenancy.ts';
export {type CheckCacheReport, checkCache} from './check-cache.ts';
export {type CheckoutOptions, noCommit, openCheckout} from './checkout-check.ts';
export {type CheckoutFacts, planCheckoutFacts} from './checkout-facts.ts';
export {giveCanonicalMode, type ModeChange} from './chmod.ts';
export {type AuthorityGitRequest, runAuthorityGit} from './credential-channel.ts';
export {type Git, type GitAnswer, type GitOptions, type GitRequest, openGit} from './git-command.ts';
export {type CheckoutPlace, locateCheckout, readLinkFile} from './git-directory.ts';
export {zeroTerminated} from './git-output.ts';
export {contractSuffix, type IssuePaths, issuePaths, type RepositoryPaths, type RootPaths, repositoryPaths, rootPaths, runDirectory} from './layout.ts';
export type {LeaseOpener} from './leased-work.ts';
export {FileLock, type LockKind, type LockWait} from './lock.ts';
export type {LockHolder} from './lock-holders.ts';
export {descriptorsOf, type HeldLock, LockSession} from './lock-session.ts';
export type {LeaseLocks, LentLock} from './lock-source.ts';
export {maintainMirror} from './maintain.ts';
export type {MirrorRequest, MirrorStep} from './mirror-work.ts';
export {
	confirmAccount,
	createProfile,
	loginForm,
	type Profile,
	type ProfileDocument,
	providerKindOf,
	readProfile,
	readProfileToken,
	tokenKeyOf,
} from './profile.ts';
export {type Registration, readRegistrations} from './registrations.ts';
export {shellWord} from './remedy.ts';
export type {CacheProblem, CacheReport, CommonReport} from './report.ts';
export {restoreConfig} from './restore-config.ts';
export {contractPathOf, type InitResult, initRoot, openRoot, rootOf} from './root.ts';
export {openRunPlace, type RunPlace, type RunPlaceRequest, readRunPlace} from './run-place.ts';
export {mirrorStatus} from './status.ts';
export {syncMirror} from './sync.ts';
export {createTrustedFile, documentBytes, type FileRefusals, readDocument, readTrustedFile, replaceDocument, type TrustedFile} from './trusted-file.ts';
export {type MirrorUse, requireVerifiedMirror} from './verified-mirror.ts';
export {verifyMirror} from './verify.ts';
export {type WitnessHttp, witnessLocalRef, witnessRemoteRef, witnessRemoteRefs} from './witness.ts';
export {type CreateRequest, createWorktree} from './worktree-create.ts';
export {type ExecRequest, type ExecResult, execInWorktree} from './worktree-exec.ts';
export {listWorktrees} from './worktree-list.ts';
export {newWorkflowId} from './worktree-record.ts';
export {type RemoveRequest, removeWorktree} from './worktree-remove.ts';
export {type RenewRequest, renewWorktree} from './worktree-renew.ts';
export type {WorktreeReport} from './worktree-report.ts';
export {resumeWorktree} from './worktree-resume.ts';
export {type StatusRequest, worktreePath, worktreeStatus} from './worktree-status.ts';
export type {WorktreeRequest, WorktreeStep} from './worktree-work.ts';
