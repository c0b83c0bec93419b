export {
  badRequest, decodeContent, decodeLimits, decodeRoot, decodeSha256, encodeContent, encodeLimits, encodeRoot,
} from './common.ts';
export { decodeJobSpec, decodeSubmitJob, encodeJobSpec, listedCountMax, taskCountMax, type SubmitJob } from './job-spec.ts';
