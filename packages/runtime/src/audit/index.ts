export { auditPath, openAudit, quietAudit, type Audit, type AuditAction, type AuditEntry } from './audit-log.ts';
