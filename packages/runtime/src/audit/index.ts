export {
  auditPath,
  openAudit,
  ownAccord,
  quietAudit,
  type Audit,
  type AuditAction,
  type AuditCaller,
  type AuditEntry,
} from './audit-log.ts';
