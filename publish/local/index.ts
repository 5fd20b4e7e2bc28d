export {openLocalAuthority} from './local-authority.ts';
export {type ApprovalText, addLocalApproval, writeLocalIssue} from './new-records.ts';
export {layOutRepository, type NewRepository} from './new-repository.ts';
export {authorityUrl} from './places.ts';
