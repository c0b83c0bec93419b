export type { Wording } from './catalogue.ts';
export { decodeCause, decodeReason, decodeReasons, encodeCause, encodeReason, encodeReasons } from './reason-codec.ts';
export { findReasonDocument, reasonDocument, type ReasonDocument } from './reason-document.ts';
export { quotaTexts, type QuotaText } from './quota-texts.ts';
export { reasonCodes, sayCause, sayReason } from './say-reason.ts';
