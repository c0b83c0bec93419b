export { authorityKeyPath, identityFolder, identityPaths, type IdentityPaths } from './folder.ts';
export { listHosts, issueForHosts, issueForUser, makeAuthority, type KeyPair, type Validity } from './issue.ts';
export {
  describeIdentity,
  ensureIdentity,
  initIdentity,
  issueIdentity,
  userOfIdentity,
  type CertificateDescription,
  type IdentityDescription,
  type InitOptions,
  type IssueOptions,
} from './make-identity.ts';
export { checkHostName, checkUserName, isUserName } from './names.ts';
export { revokeSerial, RevokedSerials } from './revoked.ts';
export {
  agentTrust,
  authorityVariable,
  onOneLine,
  readHostIdentity,
  userTrust,
  type HostIdentity,
  type Trust,
  type TrustSource,
} from './trust.ts';
