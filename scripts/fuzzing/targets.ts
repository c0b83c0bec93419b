import {
  decodeAllocateRequest,
  decodeAllocateResponse,
  decodeAllocationRequest,
  decodeProvisioning,
  decodeCancelReplicas,
  decodeClaimKeys,
  decodeBlobOffer,
  decodeBlobUpload,
  decodeBlobRequest,
  decodeDemand,
  decodeDraining,
  decodeHello,
  decodeEnrolledMachine,
  decodeLease,
  decodeLimitsOf,
  decodeMachineFacts,
  decodeQueueListing,
  decodeOutputPart,
  decodeOutputRequest,
  decodeReaderProofs,
  decodeReport,
  decodeReservedWindow,
  decodeResourceStatus,
  decodeRules,
  decodeServedUser,
  decodeStatus,
  decodeStartGang,
  decodeStartReplicas,
  decodeSubmitJob,
  decodeGroup,
  decodeSpec,
  readClaim,
} from '@mutirao/api/codecs';
import { SubmitJobRequest } from '@mutirao/api/broker';
import { AllocateRequest, AllocateResponse, GetLimitsResponse, GetQueueResponse } from '@mutirao/api/cluster';
import { AttachRequest, AttachResponse } from '@mutirao/api/machine';
import { AddMachinesRequest, ConnectRequest, ConnectResponse, type FromMachine } from '@mutirao/api/provider';
import {
  GetClaimKeysResponse,
  PrepareReservationRequest,
  RegisterResourceRequest,
  RequestReservationRequest,
  Reservation,
  ReportProvisioningRequest,
} from '@mutirao/api/reservation';
import { sayReason } from '@mutirao/api/reasons';
import { brokerMachine, createBrokerState } from '@mutirao/core/machines/broker';
import { readSiteSelection } from '@mutirao/core/site-selection';
import { evaluate, parseRequirements, printExpression } from '@mutirao/core/requirements';
import {
  parseArray,
  parseDuration,
  parseFailureTrace,
  parseLines,
  parseMachineList,
  parseSelector,
  parseSize,
  parseSwf,
  printJdf,
  readJdf,
} from '@mutirao/formats';
import { makeWorkflowJob, parseProcessorsConf, parseWorkflow } from '@mutirao/formats/workflow';
import { plausibleMessages } from '@mutirao/testkit';
import { FrameReader } from '../../packages/agent/src/gang/frames.ts';
import { findAlternative, readToMachine, scanReport, getSequence } from '../../packages/provider/src/relay/wire.ts';

/** Something that reads bytes from outside. */
export interface Target {
  /** What the first inputs are made from. */
  readonly seeds: readonly Buffer[];
  /**
   * Reads an input, and uses what was read. A refusal is an error of the kinds that a peer or a user is shown; any
   * other error is a finding.
   */
  run(bytes: Buffer): void;
}

interface Codec<Wire> {
  decode(bytes: Uint8Array): Wire;
}

/** Bytes that are not a message, refused by the generated code before a codec sees them. */
export class NoMessage extends Error {}

/** A message of a stream or a call, and the codec behind it. */
function message<Wire>(type: string, codec: Codec<Wire>, use: (wire: Wire) => unknown): Target {
  return {
    seeds: plausibleMessages(type),
    run: (bytes) => {
      let wire: Wire;
      try {
        wire = codec.decode(bytes);
      } catch (error) {
        throw new NoMessage('no message', { cause: error });
      }
      use(wire);
    },
  };
}

/** A file, or a text of a user. */
function text(seeds: readonly string[], use: (read: string) => unknown): Target {
  return {
    seeds: seeds.map((seed) => Buffer.from(seed)),
    run: (bytes) => {
      use(bytes.toString('utf8'));
    },
  };
}

function useAttachRequest({ message: said }: AttachRequest): void {
  switch (said?.$case) {
    case 'hello':
      decodeHello(said.value.hello);
      decodeMachineFacts(said.value.facts);
      return;
    case 'report':
      decodeReport(said.value);
      return;
    case 'blobRequest':
      decodeBlobRequest(said.value);
      decodeReaderProofs(said.value);
      return;
    case 'outputPart':
      decodeOutputPart(said.value);
      return;
    case undefined:
      return;
  }
}

function useAttachResponse({ message: said }: AttachResponse): void {
  switch (said?.$case) {
    case 'hello':
      decodeHello(said.value);
      return;
    case 'start':
      decodeStartReplicas(said.value);
      return;
    case 'cancel':
      decodeCancelReplicas(said.value);
      return;
    case 'content':
      decodeBlobOffer(said.value);
      return;
    case 'startGang':
      decodeStartGang(said.value);
      return;
    case 'served':
      decodeServedUser(said.value);
      return;
    case 'outputRequest':
      decodeOutputRequest(said.value);
      return;
    case 'acknowledged':
    case 'drain':
    case undefined:
      return;
  }
}

function useConnectRequest({ message: said }: ConnectRequest): void {
  switch (said?.$case) {
    case 'hello':
      decodeHello(said.value);
      return;
    case 'demand':
      decodeDemand(said.value);
      return;
    case 'lease':
      decodeLease(said.value);
      return;
    case 'toMachine':
      useAttachResponse({ message: said.value.message as AttachResponse['message'] });
      return;
    case 'leaseRevocation':
    case undefined:
      return;
  }
}

function useFromMachine({ message: said }: FromMachine): void {
  switch (said?.$case) {
    case 'report':
      decodeReport(said.value);
      return;
    case 'blobRequest':
      decodeBlobRequest(said.value);
      decodeReaderProofs(said.value);
      return;
    case 'blobUpload':
      decodeBlobUpload(said.value);
      return;
    case 'outputPart':
      decodeOutputPart(said.value);
      return;
    case undefined:
      return;
  }
}

function useConnectResponse({ message: said }: ConnectResponse): void {
  switch (said?.$case) {
    case 'hello':
      decodeHello(said.value);
      return;
    case 'joined':
      decodeMachineFacts(said.value.facts);
      return;
    case 'fromMachine':
      useFromMachine(said.value);
      return;
    case 'requests':
      said.value.requests.forEach(decodeAllocationRequest);
      return;
    case 'statuses':
      said.value.statuses.forEach(decodeStatus);
      return;
    case 'resource':
      decodeResourceStatus(said.value);
      return;
    case 'draining':
      decodeDraining(said.value);
      return;
    case 'lost':
    case 'settled':
    case 'leaseConfirmed':
    case undefined:
      return;
  }
}

/** A broker that takes a job as far as its queue. */
function submit(wire: SubmitJobRequest): void {
  const { spec, clientJobId } = decodeSubmitJob(wire);
  const state = createBrokerState();
  brokerMachine.step(
    state,
    [{ kind: 'JobSubmitted', replyTo: 1, userId: 'ana', clientJobId, spec }],
    1_785_000_000_000,
  );
  brokerMachine.checkInvariants(state);
}

function useRequirements(read: string): void {
  const parsed = parseRequirements(read);
  if (parsed.kind !== 'requirements') {
    sayReason(parsed.fault);
    return;
  }
  evaluate(parsed, { os: 'linux', mem: '2048' });
  if (parsed.expression !== undefined) printExpression(parsed.expression);
}

const place = { directory: '/home/ana', file: 'a.jdf' };

/** All that is fuzzed, by name. */
export const targets: Readonly<Record<string, Target>> = {
  'attach-request': message('mutirao.machine.v1.AttachRequest', AttachRequest, useAttachRequest),
  'attach-response': message('mutirao.machine.v1.AttachResponse', AttachResponse, useAttachResponse),
  'connect-request': message('mutirao.provider.v1.ConnectRequest', ConnectRequest, useConnectRequest),
  'connect-response': message('mutirao.provider.v1.ConnectResponse', ConnectResponse, useConnectResponse),
  'relay-frames': {
    seeds: [
      ...plausibleMessages('mutirao.provider.v1.ConnectRequest'),
      ...plausibleMessages('mutirao.machine.v1.AttachRequest'),
    ],
    run: (bytes) => {
      const { start } = findAlternative(bytes);
      scanReport(
        bytes,
        start,
        () => undefined,
        () => undefined,
      );
      getSequence(bytes, start);
      readToMachine(bytes, start);
    },
  },
  'submit-job': message('mutirao.broker.v1.SubmitJobRequest', SubmitJobRequest, submit),
  'add-machines': message('mutirao.provider.v1.AddMachinesRequest', AddMachinesRequest, ({ machines }) =>
    machines.map(decodeEnrolledMachine),
  ),
  allocate: message('mutirao.cluster.v1.AllocateRequest', AllocateRequest, decodeAllocateRequest),
  allocated: message('mutirao.cluster.v1.AllocateResponse', AllocateResponse, decodeAllocateResponse),
  'queue-listing': message('mutirao.cluster.v1.GetQueueResponse', GetQueueResponse, decodeQueueListing),
  'cluster-limits': message('mutirao.cluster.v1.GetLimitsResponse', GetLimitsResponse, decodeLimitsOf),
  'reservation-spec': message(
    'mutirao.reservation.v1.RequestReservationRequest',
    RequestReservationRequest,
    ({ spec }) => decodeSpec(spec),
  ),
  reservation: message('mutirao.reservation.v1.Reservation', Reservation, decodeReservedWindow),
  'resource-rules': message('mutirao.reservation.v1.RegisterResourceRequest', RegisterResourceRequest, ({ rules }) =>
    decodeRules(rules),
  ),
  provisioning: message(
    'mutirao.reservation.v1.ReportProvisioningRequest',
    ReportProvisioningRequest,
    ({ provisioning }) => decodeProvisioning(provisioning),
  ),
  together: message('mutirao.reservation.v1.PrepareReservationRequest', PrepareReservationRequest, ({ together }) =>
    decodeGroup(together),
  ),
  'claim-keys': message('mutirao.reservation.v1.GetClaimKeysResponse', GetClaimKeysResponse, decodeClaimKeys),
  // The payload as text: hardly a change to its base64 would be JSON.
  claim: text(
    [
      '{"iss":"m","sub":"ana","aud":"pool","nbf":1,"exp":2,"jti":"7.1","start_unix_ms":1000,"end_unix_ms":9000,"amount":2,"units":"0-1"}',
    ],
    (read) => {
      readClaim(
        ['{"alg":"EdDSA","kid":"k"}', read, 's'].map((part) => Buffer.from(part).toString('base64url')).join('.'),
      );
    },
  ),
  'gang-frames': {
    seeds: [Buffer.from([0, 0, 0, 2, 1, 65]), Buffer.from([1, 0, 0, 0, 3, 65, 66, 67])],
    run: (bytes) => {
      const reader = new FrameReader();
      const middle = bytes.length >> 1;
      for (const part of [bytes.subarray(0, middle), bytes.subarray(middle)])
        for (const frame of reader.take(part))
          if (typeof frame !== 'object') throw new TypeError('a frame is not an object');
    },
  },
  jdf: text(
    [
      'job :\nlabel : sweep\nrequirements : ( os == linux && mem >= 512 )\n\ntask :\ninit : put in ' +
        'in-$TASK\nremote : ./run in-$TASK\nfinal : get out out-$TASK\n',
      'job:\nlabel: a\ntask:\nremote: echo 1\ncheck: true\n',
    ],
    (read) => readJdf(read, place),
  ),
  'jdf-printed': text(['job :\nlabel : a\ntask :\nremote : echo $TASK\n'], (read) => {
    const { job } = readJdf(read, place);
    if (job !== undefined) readJdf(printJdf(job), place);
  }),
  'machine-list': text(
    ['gum :\nname : pc1\nos : linux\nremexec : ssh $machine $command\n', 'peer :\nname : lab\n\ngum :\nname : pc2\n'],
    (read) => parseMachineList(read, 'machines.gdf'),
  ),
  swf: text(['; MaxProcs: 16\n1 0 5 10 4 -1 -1 4 20 -1 1 1 1 1 1 -1 -1 -1\n'], (read) => parseSwf(read, 'trace.swf')),
  'failure-trace': text(['1 2 3 4 5 6 7 8 9 10 11\n', '# node_id platform_id\n0 0 1 1 1234.5 2345.6 NULL\n'], (read) =>
    parseFailureTrace(read, 'trace.fta'),
  ),
  workflow: text(
    [
      '{"name":"w","schemaVersion":"1.5","workflow":{"specification":{"tasks":[{"name":"a","id":"a","parents":[],"children":["b"]},{"name":"b","id":"b","parents":["a"],"children":[]}]}}}',
      '<?xml version="1.0"?>\n<adag name="w"><job id="a" name="x" runtime="5"/><job id="b" name="y" ' +
        'runtime="3"/><child ref="b"><parent ref="a"/></child></adag>',
      'name: w\ntasks:\n  a:\n    command: echo 1\n  b:\n    command: echo 2\n    after: [a]\n',
    ],
    (read) => makeWorkflowJob(parseWorkflow(read, 'w'), { directory: '/home/ana' } as never),
  ),
  processors: text(['p1 1000\np2 500\n', 'processors 2\n0 1.5\n1 2.5\n'], (read) =>
    parseProcessorsConf(read, 'processors.conf'),
  ),
  requirements: text(
    ['(os == linux && mem >= 512) or not site = lab', 'gpu >= 1 and (a != b || c < 3)'],
    useRequirements,
  ),
  siteSelection: text(['share', 'cost:0.5', 'none'], readSiteSelection),
  values: text(['1-10:2,15', '5m30s', '2GB', 'a\nb\n'], (read) => {
    for (const parse of [parseArray, parseDuration, parseLines, parseSelector, parseSize]) {
      try {
        parse(read);
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'FormatError') throw error;
      }
    }
  }),
};
