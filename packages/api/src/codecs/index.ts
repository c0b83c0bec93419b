export { asBuffer } from '../wire/bytes.ts';
export {
  decodeTaskStatus,
  encodeExplanation,
  encodeJobEvent,
  encodeJobSummary,
  encodeLedgerRow,
  encodeMachineRecord,
  encodeProviderRecord,
  encodeReplicaDisposition,
  encodeTaskStatus,
  encodeTrustRecord,
} from './broker.ts';
export { bytesOfName, isByteName, nameOfBytes } from './byte-names.ts';
export {
  badRequest,
  boundCode,
  boundList,
  boundName,
  boundNumber,
  boundProcessors,
  boundText,
  decodeContent,
  decodeLimits,
  decodeMessage,
  decodeRoot,
  decodeSha256,
  encodeContent,
  encodeLimits,
  encodeQuotaUses,
  encodeRoot,
} from './common.ts';
export { printUnits, readClaim, readClaimPart, readClaimPayload, splitClaim, type ClaimPayload } from './claim.ts';
export { chunkData, chunkHeadroom, frameChunk, offsetHeader, readChunk } from './content-chunk.ts';
export {
  decodeJobSpec,
  decodeAppendTasks,
  decodeSubmitJob,
  encodeJobSpec,
  listedCountMax,
  taskCountMax,
  type AppendTasks,
  type SubmitJob,
} from './job-spec.ts';
export {
  decodeAllocateRequest,
  decodeAllocateResponse,
  decodeGetQueueRequest,
  decodeGetScoresRequest,
  decodeLimitsOf,
  decodeQueueListing,
  decodeReleaseRequest,
  encodeAllocateRequest,
  encodeAllocateResponse,
  encodeLimitsOf,
  encodeQueueListing,
  encodeScores,
  endedListedMax,
  orderWordsMax,
  type AllocateAnswer,
  type ScoresAnswer,
} from './cluster.ts';
export { decodeHello, decodeServedUser, protocolVersion, type Hello, type ServedUser } from './hello.ts';
export { decodeStartGang, encodeStartGang, gangMembersMax } from './gang.ts';
export { encodeDependencies, readCondition } from './dependencies.ts';
export { decodeLease, encodeLease } from './lease.ts';
export {
  decodeOutputPart,
  decodeOutputRequest,
  encodeOutputPart,
  encodeOutputRequest,
  outputCapability,
  partBytesMax,
  partWaitMax,
  unreadablePart,
  type LiveBytes,
  type LiveOutputPart,
  type LiveOutputRequest,
  type LiveOutputState,
} from './live-output.ts';
export {
  decodeCancelReplicas,
  decodeBlobOffer,
  decodeBlobUpload,
  decodeBlobRequest,
  decodeMachineFacts,
  decodeOutcome,
  decodeReaderProofs,
  decodeReport,
  encodeCancelReplicas,
  encodeBlobOffer,
  encodeBlobRequest,
  encodeMachineFacts,
  encodeOutcome,
  encodeReport,
  encodeStagingTimes,
  type CancelReplicas,
  type ContentOffer,
  type PushedContent,
  type ReaderProofs,
  type WantedContent,
} from './machine.ts';
export {
  decodeCapacity,
  decodeResources,
  decodeUsage,
  encodeCapacity,
  encodeResources,
  encodeUsage,
} from './resources.ts';
export { decodeStartReplicas, encodeStartReplicas } from './start-replicas.ts';
export {
  decodeEnrolledMachine,
  decodeEnrolledMachineState,
  encodeEnrolledMachine,
  encodeEnrolledMachineState,
} from './enrolled-machine.ts';
export { encodeProviderQueue } from './provider-queue.ts';
export { decodeResourceStatus, encodeResourceStatus } from './resource-status.ts';
export {
  decodeAllocationRequest,
  decodeDemand,
  decodeDraining,
  encodeAllocationRequest,
  encodeDraining,
  decodeStatus,
  encodeStatus,
  encodeDemand,
  encodeTaskTimes,
} from './provider.ts';
export {
  decodeProvisioning,
  decodeClaimKeys,
  decodeDecision,
  decodeReservedWindow,
  decodeRules,
  decodeStatuses,
  decodeGroup,
  decodeSpec,
  encodeProvisioning,
  encodeDecision,
  encodePlacementOutcome,
  encodeRefusal,
  encodeReservation,
  encodeReservationEvent,
  encodeResource,
  encodeUnits,
  readInstant,
  readText,
} from './reservation.ts';
