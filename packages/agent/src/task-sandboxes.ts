import { realpathSync } from 'node:fs';
import type { TaskTemplate } from '@mutirao/core/messages';
import {
  firstWords,
  renderAssignments,
  sandboxLine,
  sandboxVariable,
  sandboxWords,
  type SandboxFolders,
} from '@mutirao/runtime/processes';
import { isIsolated, type Isolation } from './isolation.ts';
import type { Playpens } from './playpens.ts';
import type { ReplicaFolders } from './stage-in.ts';

/** A task to isolate. */
export interface SandboxedTask {
  readonly slot: number;
  readonly template: TaskTemplate;
  readonly folders: ReplicaFolders;
  /** Further folders that it needs, such as those of its gang's channel. */
  readonly besides?: readonly string[];
  /** Where it starts; left out, in its playpen. */
  readonly start?: string;
}

/** How to start a process with pipes in a task's sandbox. */
export interface SandboxedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const linesMax = 10_000;

/** The sandboxes of an agent's tasks: what each of them may see, and its own folder in place of /tmp. */
export class TaskSandboxes {
  readonly #isolation: Isolation;
  /** One for each slot, fresh for its task; undefined where nothing is isolated. */
  readonly #temporaries: Playpens | undefined;
  /** By slot, for tasks that were given one. */
  readonly #given = new Map<number, string>();
  /** Tasks of one slot and user share a line. */
  readonly #lines = new Map<string, string>();

  constructor(isolation: Isolation, temporaries: Playpens | undefined) {
    this.#isolation = isolation;
    this.#temporaries = temporaries;
  }

  /** Words for a launcher; undefined for a task without a sandbox. @throws Error of the file system. */
  lineFor(task: SandboxedTask): string | undefined {
    const { sandbox } = this.#isolation;
    const folders = this.#foldersFor(task);
    if (folders === undefined || sandbox === undefined) return undefined;
    const key = [folders.temporary, folders.start, ...folders.writable].join('\0');
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = sandboxLine(sandbox, folders);
      if (this.#lines.size >= linesMax) this.#lines.clear();
      this.#lines.set(key, line);
    }
    return line;
  }

  /**
   * Wraps a line of a shell that is started with pipes; undefined where the task is not isolated. @param env of the
   * agent's own. @param variables of the task. @throws Error of the file system.
   */
  commandFor(
    task: SandboxedTask,
    line: string,
    {
      env,
      variables,
    }: { readonly env: Readonly<Record<string, string>>; readonly variables: Readonly<Record<string, string>> },
  ): SandboxedCommand | undefined {
    const { sandbox } = this.#isolation;
    const folders = this.#foldersFor(task);
    if (folders === undefined || sandbox === undefined) return undefined;
    const words = [...sandboxWords(sandbox, folders), ...firstWords('sh'), '/bin/sh', '-c', line];
    return {
      command: '/bin/sh',
      args: ['-c', 'exec "$@" 9>&2', 'sh', ...words],
      env: { ...env, [sandboxVariable]: renderAssignments(variables) },
    };
  }

  /** Takes a slot's temporary folder away. Harmless where there is none. Never throws. */
  release(slot: number): void {
    if (this.#given.delete(slot)) this.#temporaries?.release(slot);
  }

  /** Removes all of them. Never throws. */
  close(): void {
    this.#temporaries?.close();
  }

  #foldersFor({
    slot,
    template,
    folders,
    besides = [],
    start = folders.playpen,
  }: SandboxedTask): SandboxFolders | undefined {
    if (this.#temporaries === undefined || !isIsolated(this.#isolation, template)) return undefined;
    let temporary = this.#given.get(slot);
    if (temporary === undefined) {
      temporary = this.#temporaries.prepare(slot);
      this.#given.set(slot, temporary);
    }
    const work = template.workFolder === undefined ? [] : [realpathSync(template.workFolder.path)];
    return {
      temporary,
      writable: [folders.playpen, folders.storage, ...work, ...besides],
      start: work[0] ?? start,
    };
  }
}
