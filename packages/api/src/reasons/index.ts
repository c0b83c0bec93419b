export type { Wording } from './catalogue.ts';
export { decodeReason, decodeReasons, encodeReason, encodeReasons } from './reason-codec.ts';
export { reasonDocument, type ReasonDocument } from './reason-document.ts';
export { quotaTexts, type QuotaText } from './quota-texts.ts';
export { reasonCodes, sayReason } from './say-reason.ts';
