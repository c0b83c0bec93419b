import { randomBytes } from 'node:crypto';
import path from 'node:path';
import {
  encodeBlobRequest,
  encodeMachineFacts,
  encodeOutputPart,
  encodeReport,
  outputCapability,
  type ServedUser,
} from '@mutirao/api/codecs';
import type { MutiraoError } from '@mutirao/api/errors';
import type { AttachResponse } from '@mutirao/api/machine';
import {
  agentMachine,
  createAgentState,
  isHeldReplica,
  listHeldReplicas,
  saveAgentInitialState,
  type AgentCommand,
  type AgentInput,
  type AgentOptions,
  type AgentState,
  type HeldReplica,
} from '@mutirao/core/machines/agent';
import type { Content, MachineFacts, StartReplicas, TaskTemplate } from '@mutirao/core/messages';
import { movedBy, unreachable, type Bytes, type Duration, type Instant } from '@mutirao/core/shared';
import { MachineDriver, openTrace, workClock, wallClock } from '@mutirao/runtime/driver';
import { describeLeft, removeUnderOtherName, type Removal } from '@mutirao/runtime/files';
import type { TrustSource } from '@mutirao/runtime/identity';
import type { Logger } from '@mutirao/runtime/log';
import { removeAbandoned } from './abandoned-folders.ts';
import type { AnnouncedFile } from './announced-file.ts';
import type { Pinning } from './capacity/pinning.ts';
import { findShelf, shelveInputs } from './content-caches.ts';
import { BlobClient } from './blob-client.ts';
import { ContentFetcher, type ContentFetcherOptions } from './content-fetcher.ts';
import type { KeepFile, PushFile, WaysHome } from './collect-outputs.ts';
import { readFromProvider } from './from-provider.ts';
import { Gate } from './gate.ts';
import { HostContents } from './host-contents.ts';
import type { Isolation } from './isolation.ts';
import { LiveOutput } from './live-output.ts';
import { ProviderLink } from './provider-link.ts';
import { PushAttempts } from './push-attempts.ts';
import { SharedFolders } from './shared-folders.ts';
import { getFolderName } from './storages.ts';
import { declineContent, pullContent, pushContent } from './transfers.ts';
import { getVerdict } from './verdict.ts';
import { openWorkplace, type Workplace } from './workplace.ts';

/** What an agent is started with. */
export interface AgentSetup {
  readonly facts: MachineFacts;
  readonly machine: Omit<AgentOptions, 'processors' | 'capacity'>;
  readonly provider: string;
  /** What it shows its provider. */
  readonly credential: string;
  readonly trust: TrustSource;
  readonly orphanTimeout: Duration;
  /** Addresses of this host at which members of gangs listen. */
  readonly gangHosts: readonly string[];
  /** All its files; nobody else's: it was claimed for this process. */
  readonly folder: string;
  /** Whether storage and contents are of use to a later agent. */
  readonly keepsFiles: boolean;
  /** A home folder that may lie on a shared file system; left out if nothing is shared. */
  readonly sharedHome?: string;
  /** A folder in which the agents of this host share contents; left out for one that shares nothing. */
  readonly hostFolder?: string;
  /** How tasks are kept apart from the agent and from those of other users. */
  readonly isolation: Isolation;
  /** Undefined, or left out, where the system places tasks. */
  readonly pinning?: Pinning | undefined;
  /** Sets up where tasks run; this host when left out. @param deliver receives the ends of tasks. */
  readonly openWorkplace?: (deliver: (input: AgentInput) => void) => Promise<Workplace>;
  /** Where a debugging trace goes; empty or left out for none. */
  readonly trace?: string;
  readonly log: Logger;
  onFatal(error: unknown): void;
}

type WorkCommand = Exclude<AgentCommand, { readonly kind: 'Reply' | 'WakeAt' }>;

const pushesMax = 4;
/** How long a runner waits for another task of its job. */
const runnerIdleMax: Duration = 60_000;

/** One machine's agent: the machine that decides, and the parts that do. */
export class Agent {
  private readonly setup: AgentSetup;
  private readonly driver: MachineDriver<AgentState, AgentInput, never, AgentCommand>;
  private readonly workplace: Workplace;
  private readonly contents: BlobClient;
  private readonly link: ProviderLink;
  private readonly shared: SharedFolders;
  private readonly liveOutput: LiveOutput;
  /** By user; the owner's is that of undefined. */
  private readonly hosts = new Map<string | undefined, HostContents>();
  private readonly pushes = new Gate(pushesMax);
  /** Whose broker places tasks here; undefined until the provider has said so. */
  private served: ServedUser | undefined;
  private readonly over = Promise.withResolvers<MutiraoError | undefined>();
  private isClosed = false;
  private until: Instant | undefined;

  /** Use `start`. */
  private constructor(setup: AgentSetup, workplace: Workplace) {
    this.setup = setup;
    this.workplace = workplace;
    this.until = setup.facts.until;
    const { processors, capacity } = setup.facts;
    const state = createAgentState({
      ...setup.machine,
      processors,
      ...(capacity === undefined ? {} : { capacity }),
      ...(workplace.endRunner === undefined ? {} : { runnerIdleMax }),
    });
    this.driver = new MachineDriver<AgentState, AgentInput, never, AgentCommand>({
      machine: agentMachine,
      state,
      journal: undefined,
      clock: workClock,
      perform: (command) => {
        this.perform(command);
      },
      onFatal: setup.onFatal,
      checkEvery: 1000,
      onClockStepped: (by) => {
        this.moveEnd(by);
      },
      trace: openTrace({
        path: setup.trace ?? '',
        machine: 'agent',
        at: workClock.now(),
        log: setup.log,
        describe: () => saveAgentInitialState(state),
      }),
    });
    this.contents = new BlobClient({
      deliver: (input) => {
        this.driver.deliver(input);
      },
      want: (contents) => {
        this.link.send({ $case: 'blobRequest', value: encodeBlobRequest(contents, this.shared.show()) });
      },
      makeFetcher: (shelf, ways) => this.makeFetcher(shelf, ways),
    });
    this.shared = new SharedFolders(setup.sharedHome ?? '', setup.facts.incarnation);
    this.link = this.makeLink();
    this.liveOutput = new LiveOutput({
      tails: workplace.tails,
      isHeld: (replicaId) => isHeldReplica(this.driver.state, replicaId),
      now: () => performance.now(),
      start: (delay, run) => setTimeout(run, delay).unref(),
      cancel: (timer) => {
        clearTimeout(timer as NodeJS.Timeout | undefined);
      },
      send: (part) => {
        this.link.send({ $case: 'outputPart', value: encodeOutputPart(part) });
      },
    });
  }

  /** Starts an agent, which dials its provider at once. */
  static async start(setup: AgentSetup): Promise<Agent> {
    const deliver = (input: AgentInput): void => {
      agent.driver.deliver(input);
    };
    const workplace = await (setup.openWorkplace?.(deliver) ?? openWorkplace(setup, deliver));
    const agent = new Agent(setup, workplace);
    agent.link.open();
    // Not before it is under way, and nobody waits for it.
    void removeAbandoned(path.dirname(setup.folder), (removal) => {
      logLeft(setup.log, removal);
    });
    return agent;
  }

  /** Resolves when the agent is done: drained, or with the error that it gave up for. */
  get done(): Promise<MutiraoError | undefined> {
    return this.over.promise;
  }

  /** Gives back all replicas and asks their tasks to end. `done` follows when that is reported, or after `patience`. */
  stop(reason: string, patience: Duration): void {
    this.driver.deliver({ kind: 'StopRequested', reason });
    setTimeout(() => {
      this.over.resolve(undefined);
    }, patience).unref();
  }

  /** Kills what runs and removes what nobody needs. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.workplace.end();
    this.liveOutput.forget();
    this.link.close();
    for (const host of this.hosts.values()) host.close();
    await this.driver.stop();
    this.workplace.close();
    if (!this.setup.keepsFiles) logLeft(this.setup.log, removeUnderOtherName(this.setup.folder));
  }

  private makeFetcher(
    shelf: string | undefined,
    ways: Pick<ContentFetcherOptions, 'want' | 'deliver'>,
  ): ContentFetcher {
    const cache = this.workplace.cacheOf(shelf);
    const host = this.getHost(shelf);
    return new ContentFetcher({
      ...ways,
      cache,
      ...(shelf === undefined ? {} : { shelf }),
      ...(host === undefined ? {} : { host }),
      isProvenPath: (file, proof) => this.shared.isProven(file, proof),
      decline: (transferId) => {
        void declineContent(this.link.client, transferId);
      },
      pull: (transferId, content, offset) =>
        pullContent(this.link.client, transferId, { content, offset }, cache.store),
    });
  }

  /** What the agents of this host share of a user's contents; undefined where they share nothing. */
  private getHost(shelf: string | undefined): HostContents | undefined {
    const { hostFolder, provider } = this.setup;
    if (hostFolder === undefined) return undefined;
    let host = this.hosts.get(shelf);
    if (host === undefined) {
      const folder = shelf === undefined ? hostFolder : path.join(hostFolder, `of-${getFolderName(shelf)}`);
      host = new HostContents({
        folder,
        provider,
        clock: wallClock,
        pause: (delay) =>
          new Promise((resolve) => {
            setTimeout(resolve, delay).unref();
          }),
      });
      this.hosts.set(shelf, host);
    }
    return host;
  }

  /** The clock was set. An allocation still ends after as long as before, and so at another time by the clock. */
  private moveEnd(by: Duration): void {
    if (this.until === undefined) return;
    this.until = movedBy(this.until, by);
    this.link.greetAgain();
  }

  private makeLink(): ProviderLink {
    const { provider, trust, log, orphanTimeout, facts, credential } = this.setup;
    return new ProviderLink({
      address: provider,
      credential,
      trust,
      log,
      orphanTimeout,
      hello: () => {
        // The hello must not list a replica whose end was acknowledged: the broker would wait for it in vain.
        this.driver.settle();
        return {
          hello: {
            protocolVersion: 1,
            programVersion: '0.1.0',
            capabilities: this.workplace.hold === undefined ? [outputCapability] : [outputCapability, 'gang'],
            speakerId: facts.machineId,
          },
          facts: encodeMachineFacts({ ...facts, until: this.until, homeMarks: this.shared.marks() }),
          heldReplicaIds: listHeldReplicas(this.driver.state),
        };
      },
      onAttached: ({ homeChallenge }) => {
        this.shared.meet(homeChallenge);
        this.driver.deliver({ kind: 'ProviderAttached' });
      },
      onMessage: (message) => {
        this.receive(message);
      },
      onLost: () => {
        this.liveOutput.forget();
        this.driver.deliver({ kind: 'ProviderLost' });
      },
      onGone: (error) => {
        this.over.resolve(error);
      },
    });
  }

  private receive(message: NonNullable<AttachResponse['message']>): void {
    const said = readFromProvider(message);
    switch (said.kind) {
      case 'input':
        this.driver.deliver(said.input);
        return;
      case 'batch':
        this.place(said.batch);
        return;
      case 'content':
        this.contents.take(said.offer);
        return;
      case 'output':
        // The replica may have come just before, and still wait for its turn.
        this.driver.settle();
        this.liveOutput.ask(said.request);
        return;
      case 'dropped':
        this.setup.log.warn({ code: said.reason.code, reason: said.reason.message }, 'a request for output is dropped');
        return;
      case 'served':
        this.served = said.user;
        return;
      default:
        unreachable(said);
    }
  }

  private place(batch: StartReplicas): void {
    this.shared.meet(batch.template.homeChallenge ?? '');
    const named = { ...batch, template: nameSubmitter(batch.template, this.served) };
    this.driver.deliver({
      kind: 'ReplicasDispatched',
      batch: this.workplace.keepsUsersApart ? shelveInputs(named) : named,
    });
  }

  private perform(command: WorkCommand): void {
    switch (command.kind) {
      case 'AskContents':
        this.contents.ask(command.contents);
        return;
      case 'ReleaseContents':
        this.contents.release(command.contentKeys);
        return;
      case 'StageIn':
        void this.stage(command.replica);
        return;
      case 'HoldMember':
        this.hold(command.replica);
        return;
      case 'ReleaseMember':
        this.workplace.releaseMember?.(command.replicaId);
        return;
      case 'LaunchTask':
        this.workplace.launch(command.replica);
        return;
      case 'EndRunner':
        this.workplace.endRunner?.(command.slot);
        return;
      case 'KillTask':
        this.workplace.signal(command.replica, command.signal);
        return;
      case 'CollectOutputs':
        void this.collect(command.replica);
        return;
      case 'RemovePlaypen':
        this.workplace.release(command.slot);
        return;
      case 'SendReport':
        this.link.send({ $case: 'report', value: encodeReport(command.report) });
        return;
      case 'Leave':
        this.over.resolve(undefined);
        return;
      default:
        unreachable(command);
    }
  }

  private hold(replica: HeldReplica): void {
    if (this.workplace.hold !== undefined) return this.workplace.hold(replica);
    this.driver.deliver({
      kind: 'HoldFailed',
      replicaId: replica.start.replicaId,
      verdict: {
        outcome: 'broken',
        reason: 'MUT_GANG_CHANNEL_FAILED',
        detail: 'this machine takes no gangs: it is driven by templates, or its tasks run in another account',
      },
    });
  }

  private async stage(replica: HeldReplica): Promise<void> {
    const { replicaId } = replica.start;
    try {
      await this.workplace.stageIn(replica);
      this.driver.deliver({ kind: 'InputsStaged', replicaId });
    } catch (error) {
      this.driver.deliver({ kind: 'StagingFailed', replicaId, verdict: getVerdict(error, 'staging') });
    }
  }

  private async collect(replica: HeldReplica): Promise<void> {
    const { replicaId } = replica.start;
    try {
      const outputs = await this.workplace.collect(replica, this.waysHome(replica.template));
      this.driver.deliver({ kind: 'OutputsCollected', replicaId, outputs });
    } catch (error) {
      this.driver.deliver({ kind: 'CollectionFailed', replicaId, verdict: getVerdict(error, 'collecting') });
    }
  }

  private waysHome(template: HeldReplica['template']): WaysHome {
    const { homeChallenge: challenge, dropProof: proof } = template;
    const shelf = this.workplace.keepsUsersApart ? findShelf(template) : undefined;
    const push: PushFile = (file) => this.push(file);
    const keep: KeepFile = (content, file) => this.keep(content, file, shelf);
    return challenge === undefined || proof === undefined
      ? { push, keep }
      : { push, keep, drop: (file) => this.shared.drop({ challenge, proof }, file) };
  }

  /** A content that cannot be kept is sent to its reader, as to any other machine. */
  private async keep(content: Content, file: string, shelf: string | undefined): Promise<void> {
    const cache = this.workplace.cacheOf(shelf);
    try {
      await cache.keepWritten(content, file);
      this.getHost(shelf)?.offer(content, cache.store.path(content.sha256));
    } catch (error) {
      this.setup.log.warn({ content: content.sha256, err: error }, 'cannot cache an output for the tasks that read it');
    }
  }

  /**
   * Pushes a file under a new name for each try, as long as it takes the provider to come back or to have room. @throws
   * {MutiraoError} MUT_OUTPUT_CHANGED; of the transfer.
   */
  private push(announced: AnnouncedFile): Promise<string> {
    return this.pushes.run(async () => {
      const { path: file, content } = announced;
      const attempts = new PushAttempts();
      for (let isFirst = true; ; isFirst = false) {
        const { machineId } = this.setup.facts;
        // Others must not be able to guess it.
        const transferId = randomBytes(16).toString('hex');
        try {
          const goOn =
            isFirst || !this.link.takesOffsets
              ? {}
              : {
                  goOn: (stored: Bytes) => {
                    attempts.noteStored(stored);
                  },
                };
          await pushContent(this.link.client, { transferId, machineId, content, ...goOn }, file);
          await announced.requireUnchanged();
          return transferId;
        } catch (error) {
          await announced.requireUnchanged();
          const pause = attempts.pauseAfter(error);
          if (pause === undefined || this.isClosed) throw error;
          await new Promise((resolve) => {
            setTimeout(resolve, pause);
          });
        }
      }
    });
  }
}

/**
 * Says whose a task is in a way that no broker can choose: what a user's tasks leave on this machine is found by this
 * name.
 *
 * Users of the owner's broker keep the names that they have there; users of another broker go by its user's name too.
 */
export function nameSubmitter(template: TaskTemplate, served: ServedUser | undefined): TaskTemplate {
  if (served === undefined || (served.isOwner && template.userId === served.userId)) return template;
  return {
    ...template,
    isForeign: true,
    userId: served.isOwner ? template.userId : `${served.userId}/${template.userId}`,
  };
}

function logLeft(log: Logger, removal: Removal): void {
  if (!removal.isComplete) log.warn({ left: describeLeft(removal) }, "cannot remove files in the agent's folder");
}
