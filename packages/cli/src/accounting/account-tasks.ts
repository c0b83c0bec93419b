import type { ReplicaRecord, TaskRecord } from '@mutirao/api/broker';
import { Outcome } from '@mutirao/api/machine';

import { showDay } from '../output/units.ts';

/** What accounts are kept by. */
export type AccountBy = 'user' | 'job' | 'machine' | 'day';

/** The sums of one account. */
export interface Account {
  readonly name: string;
  /** Tasks of which a replica ended in the window. */
  tasks: number;
  replicas: number;
  /** Replicas that failed, exceeded a limit, or could not run. */
  failures: number;
  /** Processors held, times run time. */
  processorMs: number;
  /** Measured by the machines; those that do not measure add nothing. */
  processorTimeMs: number;
  /** Most memory of one replica. */
  memoryBytesMax: number;
}

/** A stretch of time, without its end. */
export interface AccountWindow {
  readonly since: number;
  readonly until: number;
}

/** Whose tasks are counted. */
export interface AccountedJob {
  readonly jobId: number;
  readonly userId: string;
}

/** Adds up what replicas used that ended in a window. */
export class Accounts {
  readonly #by: AccountBy;
  readonly #window: AccountWindow;
  readonly #accounts = new Map<string, Account>();
  /** Of all accounts together; a task that is in several of them counts once. */
  readonly total = openAccount('total');

  constructor(by: AccountBy, window: AccountWindow) {
    this.#by = by;
    this.#window = window;
  }

  add(job: AccountedJob, task: TaskRecord, processors: number): void {
    const counted = new Set<Account>();
    for (const replica of task.replicas) {
      if (!isWithin(this.#window, replica)) continue;
      for (const account of [this.#accountOf(job, replica), this.total]) {
        if (!counted.has(account)) account.tasks += 1;
        counted.add(account);
        addReplica(account, replica, processors);
      }
    }
  }

  /** By name; jobs by number. */
  list(): Account[] {
    return [...this.#accounts.values()].toSorted((one, other) =>
      one.name.localeCompare(other.name, 'en', { numeric: true }),
    );
  }

  #accountOf(job: AccountedJob, replica: ReplicaRecord): Account {
    const name = this.#nameOf(job, replica);
    let account = this.#accounts.get(name);
    if (account === undefined) {
      account = openAccount(name);
      this.#accounts.set(name, account);
    }
    return account;
  }

  #nameOf({ jobId, userId }: AccountedJob, { machineId, endedUnixMs }: ReplicaRecord): string {
    switch (this.#by) {
      case 'user':
        return userId;
      case 'job':
        return String(jobId);
      case 'machine':
        return machineId;
      case 'day':
        return showDay(endedUnixMs);
    }
  }
}

function openAccount(name: string): Account {
  return { name, tasks: 0, replicas: 0, failures: 0, processorMs: 0, processorTimeMs: 0, memoryBytesMax: 0 };
}

function isWithin({ since, until }: AccountWindow, { endedUnixMs }: ReplicaRecord): boolean {
  return endedUnixMs !== 0 && endedUnixMs >= since && endedUnixMs < until;
}

function addReplica(account: Account, replica: ReplicaRecord, processors: number): void {
  const { startedUnixMs, endedUnixMs, usage } = replica;
  account.replicas += 1;
  if (hasFailed(replica)) account.failures += 1;
  if (startedUnixMs !== 0) account.processorMs += Math.max(0, endedUnixMs - startedUnixMs) * processors;
  account.processorTimeMs += usage?.processorTimeMs ?? 0;
  account.memoryBytesMax = Math.max(account.memoryBytesMax, usage?.memoryBytesMax ?? 0);
}

function hasFailed({ outcome }: ReplicaRecord): boolean {
  return outcome === Outcome.FAILED || outcome === Outcome.LIMITED || outcome === Outcome.BROKEN;
}
