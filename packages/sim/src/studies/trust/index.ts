export { studyTrust, type TrustReport, type TrustRow } from './report.ts';
export { runTrustBag, type TrustCase, type TrustOutcome } from './run-bag.ts';
