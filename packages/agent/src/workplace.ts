import { mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { getSlot, noResult, type AgentInput, type HeldReplica, type Verdict } from '@mutirao/core/machines/agent';
import type { MachineFacts, OutputContent } from '@mutirao/core/messages';
import type { Bytes, Duration } from '@mutirao/core/shared';
import type { Logger } from '@mutirao/runtime/log';
import { Watchdog } from '@mutirao/runtime/processes';
import { AccountTasks } from './account-tasks.ts';
import type { Pinning } from './capacity/pinning.ts';
import { requireWorkFolder } from './check-work-folder.ts';
import { collectOutputs, type WaysHome } from './collect-outputs.ts';
import type { ContentCache } from './content-cache.ts';
import { ContentCaches, findShelf } from './content-caches.ts';
import { Gangs } from './gang/gangs.ts';
import { nameMember } from './gang/member-name.ts';
import { findIsolationRefusal, type Isolation } from './isolation.ts';
import type { TaskTails } from './live-output.ts';
import { Playpens } from './playpens.ts';
import { stageIn, type ReplicaFolders } from './stage-in.ts';
import { Storages } from './storages.ts';
import { baseEnvironment, TaskRenderer } from './task-environment.ts';
import { TaskRunner } from './task-runner.ts';
import { TaskSandboxes } from './task-sandboxes.ts';
import { machineError, getVerdict } from './verdict.ts';

/** Where an agent's tasks run: on its own host, or on a machine that is driven by templates. */
export interface Workplace {
  /** Contents that came from home for a user, on the agent's own host. @param shelf undefined for the owner. */
  cacheOf(shelf: string | undefined): ContentCache;
  /** Whether contents of several users are kept apart; otherwise all are the owner's. */
  readonly keepsUsersApart: boolean;
  /** Makes a replica's playpen and puts its inputs in place. @throws {MutiraoError} or an Error of the file system. */
  stageIn(replica: HeldReplica): Promise<void>;
  /** Starts a replica's task, in a fresh playpen unless inputs were put into one; ProcessEnded reports its end. */
  launch(replica: HeldReplica): void;
  /** Signals a replica's task, if it still runs. */
  signal(replica: HeldReplica, signal: 'SIGTERM' | 'SIGKILL'): void;
  /** What tasks write while they run; left out where that cannot be read. */
  readonly tails?: TaskTails;
  /** Lets a member of a gang listen; MemberListening or HoldFailed reports the result. Left out without gangs. */
  hold?(replica: HeldReplica): void;
  /** Ends everything of a member of a gang except its process. */
  releaseMember?(replicaId: number): void;
  /**
   * Reads the outputs that a replica brings home.
   *
   * @throws {MutiraoError} MUT_OUTPUT_MISSING, MUT_OUTPUT_FILES_MAX, MUT_PATH_ESCAPES; what the ways home throw.
   */
  collect(replica: HeldReplica, ways: WaysHome): Promise<OutputContent[]>;
  /** Ends the idle runner on a slot. Left out where none are kept. */
  endRunner?(slot: number): void;
  /** Takes a slot's playpen away. Harmless where there is none. */
  release(slot: number): void;
  /** Kills what runs. */
  end(): Promise<void>;
  /** Removes what nobody needs; after `end`. */
  close(): void;
}

/** What a workplace is made of. */
export interface WorkplaceSetup {
  readonly facts: MachineFacts;
  /** Made if it is absent. */
  readonly folder: string;
  readonly machine: { readonly contentBytesMax: Bytes; readonly killGrace: Duration };
  /** Addresses of this host at which members of gangs listen. */
  readonly gangHosts: readonly string[];
  /** Whether the folder is of use to a later agent; otherwise it goes with this one, however it ends. */
  readonly keepsFiles: boolean;
  /** A home folder whose file system may be shared with the broker; left out where nothing is shared. */
  readonly sharedHome?: string;
  /** How tasks are kept apart from the agent and from those of other users. */
  readonly isolation: Isolation;
  /** Undefined, or left out, where the system places tasks. */
  readonly pinning?: Pinning | undefined;
  readonly log: Logger;
}

/** How long rank 0 and another member of a gang may be out of each other's reach, in milliseconds. */
const linkPatience = 30_000;

/** What the tasks of a workplace use. */
interface WorkplaceParts {
  readonly folder: string;
  readonly watchdog: Watchdog;
  readonly playpens: Playpens;
  readonly sandboxes: TaskSandboxes;
  readonly storages: Storages;
  readonly caches: ContentCaches;
  readonly tasks: TaskRunner;
  /** Undefined where tasks run as the agent's own account. */
  readonly account: AccountTasks | undefined;
}

type Deliver = (input: AgentInput) => void;

/**
 * Sets up an agent's folder and starts its launchers.
 *
 * @param deliver receives the ends of tasks.
 * @throws Error of the file system.
 */
export async function openWorkplace(setup: WorkplaceSetup, deliver: Deliver): Promise<Workplace> {
  const parts = await openParts(setup, deliver);
  const { folder, watchdog, playpens, sandboxes, caches, tasks, account } = parts;
  const gangs = openGangs(setup, parts, deliver);
  const { sharedHome, isolation } = setup;
  return {
    cacheOf: (shelf) => caches.of(shelf),
    keepsUsersApart: true,
    stageIn: (replica) => stageReplica(parts, replica),
    // A gang's channel is open to the agent's own account only.
    ...(account === undefined
      ? {
          hold: (replica: HeldReplica) => {
            void gangs.hold(replica);
          },
        }
      : {}),
    releaseMember: (replicaId) => {
      gangs.release(replicaId);
    },
    ...(account === undefined
      ? {
          endRunner: (slot: number) => {
            tasks.runners.end(slot);
          },
        }
      : {}),
    launch: launchWhere(
      {
        sharedHome,
        ownFolder: path.dirname(folder),
        isolation,
        deliver,
        whenFree: (replica) => tasks.runners.whenFree(replica),
      },
      (replica) => {
        (replica.start.gang === undefined ? tasks : gangs).launch(replica);
      },
    ),
    tails: tasks,
    signal: (replica, signal) => {
      (replica.start.gang === undefined ? tasks : gangs).signal(replica, signal);
    },
    collect: async (replica, ways) =>
      collectOutputs(replica, (await account?.take(getSlot(replica), replica)) ?? getFolders(parts, replica), ways),
    release: (slot) => {
      if (tasks.runners.release(slot)) return;
      playpens.release(slot);
      sandboxes.release(slot);
      account?.release(slot);
    },
    end: () => {
      gangs.close();
      tasks.close();
      watchdog.close();
      return Promise.resolve();
    },
    close: () => {
      playpens.close();
      sandboxes.close();
      account?.close();
    },
  };
}

async function openParts(setup: WorkplaceSetup, deliver: Deliver): Promise<WorkplaceParts> {
  const { facts, machine, keepsFiles, isolation, log } = setup;
  mkdirSync(setup.folder, { recursive: true, mode: 0o700 });
  // Inside a sandbox there is no way to a folder through links that lie in hidden ones.
  const folder = isolation.kind === 'none' ? setup.folder : realpathSync(setup.folder);
  const ownAccount = isolation.account;
  const watchdog = new Watchdog(
    keepsFiles ? undefined : folder,
    ownAccount === undefined
      ? undefined
      : { sweepLine: (mark) => ownAccount.account.sweepLine(mark, ownAccount.folder) },
  );
  const freshFolders = (name: string): Playpens =>
    new Playpens({
      folder: path.join(folder, name),
      onLeft: (left) => {
        log.warn({ left }, 'cannot remove files of a task');
      },
    });
  const playpens = freshFolders('playpens');
  const sandboxes = new TaskSandboxes(isolation, isolation.sandbox === undefined ? undefined : freshFolders('tmp'));
  const storages = new Storages(path.join(folder, 'storage'));
  const environment = baseEnvironment(process.env, facts.attributes, facts.machineId);
  const account =
    ownAccount === undefined
      ? undefined
      : new AccountTasks(ownAccount, { ...environment, ...watchdog.environment }, path.join(folder, 'taken'));
  const [caches, tasks] = await Promise.all([
    ContentCaches.open(folder, machine.contentBytesMax),
    TaskRunner.open({
      launchers: {
        folder: path.join(folder, 'launchers'),
        width: facts.processors,
        environment,
        watchdog,
        usesScopes: facts.requestId === '',
        ...(ownAccount === undefined ? {} : { account: ownAccount.account }),
      },
      runnersFolder: path.join(folder, 'runners'),
      playpens,
      storages,
      sandboxes,
      ...(account === undefined ? {} : { account }),
      renderer: new TaskRenderer(environment['PATH'] ?? '', facts.capacity),
      pinning: setup.pinning,
      deliver,
    }),
  ]);
  return { folder, watchdog, playpens, sandboxes, storages, caches, tasks, account };
}

function openGangs(
  { facts, gangHosts, machine }: WorkplaceSetup,
  { folder, tasks }: WorkplaceParts,
  deliver: Deliver,
): Gangs {
  return new Gangs({
    folder: path.join(folder, 'gangs'),
    name: nameMember(facts.machineId),
    hosts: gangHosts,
    killGrace: machine.killGrace,
    linkPatience,
    deliver,
    launch: (replica, task) => {
      tasks.launch(replica, task);
    },
    signal: (replica, signal) => {
      tasks.signal(replica, signal);
    },
    start: (replica, variables, command, onClosed) => tasks.startBeside(replica, variables, command, onClosed),
  });
}

function getFolders({ playpens, storages, tasks }: WorkplaceParts, replica: HeldReplica): ReplicaFolders {
  const slot = getSlot(replica);
  return {
    playpen: tasks.runners.folderOf(slot) ?? playpens.getPath(slot),
    storage: storages.getPath(replica.template.userId),
  };
}

async function stageReplica(parts: WorkplaceParts, replica: HeldReplica): Promise<void> {
  const { playpens, caches, account, storages, tasks } = parts;
  const cache = caches.of(findShelf(replica.template));
  await tasks.runners.whenFree(replica);
  if (replica.runner !== undefined) {
    await tasks.runners.stage(replica, storages.getPath(replica.template.userId), cache);
    return;
  }
  try {
    playpens.prepare(getSlot(replica));
  } catch (error) {
    throw machineError(error);
  }
  const folders = getFolders(parts, replica);
  await stageIn(replica, folders, cache);
  await account?.give(getSlot(replica), replica, folders);
}

/**
 * Refuses tasks that must not run here, has the folder of a task looked at first where its job names one, and waits for
 * the end of runners that may hold what it was given. Other tasks start at once.
 */
function launchWhere(
  {
    deliver,
    isolation,
    whenFree,
    ...places
  }: Parameters<typeof requireWorkFolder>[1] & {
    readonly isolation: Isolation;
    deliver(input: AgentInput): void;
    /** Of runners that held what the replica was given. */
    whenFree(replica: HeldReplica): Promise<unknown> | undefined;
  },
  launch: (replica: HeldReplica) => void,
): (replica: HeldReplica) => void {
  const reportEnd = (replica: HeldReplica, verdict: Verdict | undefined): void => {
    deliver({ kind: 'ProcessEnded', replicaId: replica.start.replicaId, verdict, result: noResult });
  };
  return (replica) => {
    const { workFolder } = replica.template;
    const refusal = findIsolationRefusal(isolation, replica.template);
    if (refusal !== undefined) return reportEnd(replica, refusal);
    const free = whenFree(replica);
    if (workFolder === undefined && free === undefined) return launch(replica);
    Promise.all([workFolder === undefined ? undefined : requireWorkFolder(workFolder, places), free]).then(
      () => {
        // It may have been cancelled meanwhile.
        if (replica.verdict === undefined) launch(replica);
        else reportEnd(replica, undefined);
      },
      (error: unknown) => {
        reportEnd(replica, getVerdict(error, 'launching'));
      },
    );
  };
}
