export {openLocalAuthority} from './local-authority.ts';
export {type ApprovalText, addLocalApproval, type IssueText, type LocalApproval, type LocalWrite, writeLocalIssue} from './new-records.ts';
export {type LaidOutRepository, layOutRepository, type NewRepository} from './new-repository.ts';
export {authorityDirectory, authorityUrl} from './places.ts';
