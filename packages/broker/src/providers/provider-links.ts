import { encodeBlobOffer, chunkData, type LiveOutputPart } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import {
  GridMachineProviderServiceClient,
  GridMachineProviderServiceService,
  type ReceiveContentRequest,
  ReceiveContentResponse,
  type ProviderQueue,
} from '@mutirao/api/provider';
import type { BrokerInput } from '@mutirao/core/machines/broker';
import { type Content, type MachineFacts, processorsPerMachine } from '@mutirao/core/messages';
import type { MachineId, ProcessorCount, ProviderId } from '@mutirao/core/shared';
import { Backoff, type Timers } from '@mutirao/runtime/driver';
import type { HomeProver, Room } from '@mutirao/runtime/files';
import type { TrustSource } from '@mutirao/runtime/identity';
import type { Logger } from '@mutirao/runtime/log';
import { InFlightBytes } from '@mutirao/runtime/memory';
import { callUnary, dial, openStream, listRawMessages } from '@mutirao/runtime/rpc';

import type { Arrivals } from '../results/arrivals.ts';
import { BegunOutputs } from '../results/begun-outputs.ts';
import { SerialExecutor } from '../concurrency/serial-executor.ts';
import { ContentFetcher } from './content-fetcher.ts';
import { ContentServer, type ContentSource } from './content-server.ts';
import { openContentSink } from './content-sink.ts';
import { FromProvider } from './from-provider.ts';
import type { NamedContents } from './named-contents.ts';
import { ProviderLink } from './provider-link.ts';
import { countPrinted, getBytes, keepOutputs, type KnownReplicas } from './report-outputs.ts';

/** Counts what goes over the links. */
export interface LinkCounts {
  connected(providerId: ProviderId): void;
  /** Bytes of files: `out` to machines, `in` to home. */
  staged(direction: 'in' | 'out', bytes: number): void;
}

/** What all links share. */
export interface ProviderLinksOptions {
  readonly brokerId: string;
  /** Names the journal that it speaks for. */
  readonly instance: string;
  readonly programVersion: string;
  /** What a provider wants to be shown. */
  tokenOf(providerId: ProviderId): string;
  /** How providers on other hosts are trusted. */
  readonly trust: TrustSource;
  readonly arrivals: Arrivals;
  readonly timers: Timers;
  readonly log: Logger;
  readonly counts: LinkCounts;
  /** Where what comes is kept. */
  readonly room: Pick<Room, 'retryWhileDiskFull' | 'whenFree'>;
  deliver(input: BrokerInput): void;
  /** Inputs that wait for their turn. */
  waitingCount(): number;
  findSource(content: Content): Promise<ContentSource | undefined>;
  /** Adds what home knows of a machine. */
  describeMachine(facts: MachineFacts): MachineFacts;
  /** Knows the proofs of those who read the files of home themselves. */
  readonly prover: Pick<HomeProver, 'isReader' | 'provePath'>;
  readonly named: Pick<NamedContents, 'has'>;
  readonly known: KnownReplicas;
  restage(machineId: MachineId): Promise<void>;
  /** What a task has written, for who asked. */
  takeOutput(machineId: MachineId, part: LiveOutputPart): void;
  nextTransferId(): string;
}

interface Connection {
  readonly address: string;
  readonly client: GridMachineProviderServiceClient;
  readonly link: ProviderLink;
  trouble: string;
}

/** While more waits than this, providers are held back. */
const heldBytesMax = 16 * 1024 * 1024;
const waitingInputsMax = 8192;
/** Milliseconds until a look whether less waits. */
const lookAgainAfter = 5;
const transfersMax = 4;
/** Time limit of a provider's answer for which a user waits while submitting a job. */
const askDeadline = 2000;

/** One link to each provider that the broker uses. */
export class ProviderLinks {
  readonly #options: ProviderLinksOptions;
  readonly #connections = new Map<ProviderId, Connection>();
  readonly #passing = new InFlightBytes();
  readonly #begun: BegunOutputs;

  constructor(options: ProviderLinksOptions) {
    this.#options = options;
    this.#begun = new BegunOutputs(options.arrivals);
  }

  /** Keeps a link to a provider from now on; one to another address of the same provider is given up. */
  connect(providerId: ProviderId, address: string): void {
    const known = this.#connections.get(providerId);
    if (known?.address === address) return;
    known?.link.stop();
    known?.client.close();
    const client = dial(GridMachineProviderServiceClient, address, {
      token: this.#options.tokenOf(providerId),
      trust: this.#options.trust,
    });
    const connection: Connection = { address, client, link: this.#createLink(providerId, client), trouble: '' };
    this.#connections.set(providerId, connection);
    connection.link.start();
  }

  /** Gives the link to a provider up. */
  disconnect(providerId: ProviderId): void {
    const known = this.#connections.get(providerId);
    this.#connections.delete(providerId);
    known?.link.stop();
    known?.client.close();
  }

  /** The link to a provider; undefined when there is none. */
  find(providerId: ProviderId): ProviderLink | undefined {
    return this.#connections.get(providerId)?.link;
  }

  /** Why the last try to reach a provider came to nothing; empty when it went well. */
  getTrouble(providerId: ProviderId): string {
    return this.#connections.get(providerId)?.trouble ?? '';
  }

  /**
   * The most processors that one of its machines may have; undefined where its machines are whoever joins, and where it
   * does not answer.
   */
  async machineProcessorsOf(providerId: ProviderId): Promise<ProcessorCount | undefined> {
    const client = this.#connections.get(providerId)?.client;
    if (client === undefined) return undefined;
    const limits = { deadlineMs: askDeadline, signal: new AbortController().signal };
    const resource = await callUnary(client, 'getResource', {}, limits).catch(() => undefined);
    return resource?.resourceKind === 'cluster' ? processorsPerMachine : undefined;
  }

  /**
   * The queue of its resource as its request heuristic sees it. @throws {MutiraoError} MUT_NOT_FOUND; MUT_UNREACHABLE
   * and others, as it answers.
   */
  async findQueue(providerId: ProviderId): Promise<ProviderQueue> {
    const client = this.#connections.get(providerId)?.client;
    if (client === undefined) throw new MutiraoError('MUT_NOT_FOUND', `there is no provider ${providerId}`);
    const { queue } = await callUnary(
      client,
      'getQueue',
      {},
      { deadlineMs: askDeadline, signal: new AbortController().signal },
    );
    if (queue === undefined) throw new MutiraoError('MUT_PROTOCOL', `provider ${providerId} did not report its queue`);
    return queue;
  }

  /** Ends all links. */
  stop(): void {
    for (const { link, client } of this.#connections.values()) {
      link.stop();
      client.close();
    }
    this.#connections.clear();
  }

  #pass(direction: 'in' | 'out', bytes: number): void {
    this.#options.counts.staged(direction, bytes);
    this.#passing.note(bytes);
  }

  #createLink(providerId: ProviderId, client: GridMachineProviderServiceClient): ProviderLink {
    const { brokerId, instance, programVersion, timers, deliver, counts } = this.#options;
    const log = this.#options.log.child({ provider: providerId });
    const note = (trouble: string): void => {
      const connection = this.#connections.get(providerId);
      if (connection?.client === client) connection.trouble = trouble;
    };
    const link: ProviderLink = new ProviderLink({
      brokerId,
      instance,
      programVersion,
      timers,
      log,
      connect: () => openStream(client.connect(), log),
      backoff: new Backoff({ first: 100, longest: 5000, random: Math.random }),
      listener: {
        onConnected: ({ clock, capabilities, resourceId }) => {
          note('');
          counts.connected(providerId);
          deliver({
            kind: 'ProviderConnected',
            providerId,
            resourceId,
            ...(clock === undefined ? {} : { clock }),
            ...(capabilities.includes('lease') ? { takesLeases: true } : {}),
            ...(capabilities.includes('resource') ? { reportsResource: true } : {}),
          });
        },
        onMessage: (message) => {
          from.receive(message);
          hold.look();
        },
        onDisconnected: (reason) => {
          note(reason);
          deliver({ kind: 'ProviderDisconnected', providerId, reason });
        },
        onUnreachable: note,
      },
    });
    const hold = this.#createHold(link);
    const from = this.#createReader({ providerId, client, link, log }, hold);
    return link;
  }

  #createReader({ providerId, client, link, log }: Readers, hold: Hold): FromProvider {
    const { arrivals, timers, counts, deliver, room } = this.#options;
    const onTrouble = (error: unknown): void => {
      log.warn({ err: error }, 'cannot transfer a file');
    };
    const fetcher = new ContentFetcher({
      arrivals,
      begun: this.#begun,
      concurrencyMax: transfersMax,
      timers,
      onTrouble,
      whenRoom: (bytes) => room.whenFree(bytes),
      receive: (transferId, offset, signal) => receiveContent(client, { transferId, offset, refusal: '' }, signal),
      refuse: async (transferId, refusal) => {
        const nothing = receiveContent(client, { transferId, offset: 0, refusal });
        await nothing.next();
        await nothing.return(undefined);
      },
      takesOffsets: () => link.can('offset'),
      pause: (delay) =>
        new Promise((resolve) => {
          timers.start(delay, resolve);
        }),
      isConnected: () => link.isConnected,
      onBytes: (bytes) => {
        this.#pass('in', bytes);
      },
    });
    const server = new ContentServer({
      ...this.#options,
      concurrencyMax: transfersMax,
      onTrouble,
      isNamed: (machineId, sha256) => this.#options.named.has(machineId === '' ? providerId : machineId, sha256),
      offer: (machineId, offer) => {
        link.sendToMachine(machineId, { $case: 'content', value: encodeBlobOffer(offer) });
      },
      send: (transferId) => openContentSink(client, transferId, timers),
      onBytes: (bytes) => {
        this.#pass('out', bytes);
      },
    });
    return new FromProvider(
      providerId,
      {
        deliver,
        describeMachine: (facts) => this.#options.describeMachine(facts),
        countPrinted: (machineId, report) => countPrinted({ machineId, report }, arrivals.unreported, onTrouble),
        keepOutputs: async (machineId, report) => {
          counts.staged('in', getBytes(report));
          const { epoch } = link;
          const kept = await keepOutputs(
            { machineId, report },
            { arrivals, pushed: fetcher, room, known: this.#options.known },
            onTrouble,
          );
          // With the connection the transfers of its outputs broke.
          return link.isConnected && link.epoch === epoch ? kept : undefined;
        },
        takeOutput: (machineId, part) => {
          this.#options.takeOutput(machineId, part);
        },
        fetchPushed: (machineId, pushed) => {
          fetcher.fetch(machineId, pushed);
        },
        serveWanted: (machineId, contents, proofs) => {
          void server.serve(machineId, contents, proofs).catch(onTrouble);
        },
        onHeldBytes: (bytes) => {
          hold.heldBytes = bytes;
        },
      },
      new SerialExecutor<MachineId>(onTrouble),
    );
  }

  /** Holds a provider back while too much of what it said waits, and lets it go on a little later. */
  #createHold(link: ProviderLink): Hold {
    const { timers, waitingCount } = this.#options;
    let isHeld = false;
    const isTooMuch = (): boolean => hold.heldBytes > heldBytesMax || waitingCount() > waitingInputsMax;
    const lookAgain = (): void => {
      if (isTooMuch()) {
        timers.start(lookAgainAfter, lookAgain);
        return;
      }
      isHeld = false;
      link.resume();
    };
    const hold: Hold = {
      heldBytes: 0,
      look: () => {
        if (isHeld || !isTooMuch()) return;
        isHeld = true;
        link.pause();
        timers.start(lookAgainAfter, lookAgain);
      },
    };
    return hold;
  }
}

/** Number of the data field in ReceiveContentResponse. */
const dataField = 1;
const passing = new InFlightBytes();

/** The bytes of a transfer, as views of the messages that bring them. */
async function* receiveContent(
  client: GridMachineProviderServiceClient,
  request: ReceiveContentRequest,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { receiveContent: method } = GridMachineProviderServiceService;
  for await (const message of listRawMessages(client, method, request, signal)) {
    yield chunkData(message, dataField, ReceiveContentResponse);
    passing.note(message.length);
  }
}

interface Readers {
  readonly providerId: ProviderId;
  readonly client: GridMachineProviderServiceClient;
  readonly link: ProviderLink;
  readonly log: Logger;
}

interface Hold {
  /** Bytes of reports that wait to be kept. */
  heldBytes: number;
  look(): void;
}
