export {
  badRequest, decodeContent, decodeLimits, decodeRoot, decodeSha256, encodeContent, encodeLimits, encodeRoot,
} from './common.ts';
export { decodeJobSpec, decodeSubmitJob, encodeJobSpec, listedCountMax, taskCountMax, type SubmitJob } from './job-spec.ts';
export {
  decodeAllocateRequest, decodeGetQueueRequest, decodeLimitsOf, decodeQueueListing, decodeReleaseRequest, encodeAllocateRequest, encodeLimitsOf,
  encodeQueueListing, endedListedMax, orderWordsMax,
} from './cluster.ts';
