import type { Workflow } from '../../../../src/schema/index.ts';
import { workflowOfSaved } from './saved-workflow.ts';

const partSize = 200;
const kinds = ['tasks', 'edges'] as const;
type Kind = (typeof kinds)[number];

/**
 * Keeps the workflow that is drawn in a storage of texts, in parts of 200 tasks or edges of which only those are
 * written that changed.
 */
export class DraftAutosave {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  readonly #place: string;
  #kept: Readonly<Record<Kind, readonly unknown[]>> = { tasks: [], edges: [] };
  /** The parts that are there, of each kind. */
  readonly #counts: Record<Kind, number> = { tasks: 0, edges: 0 };

  constructor(storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>, place: string) {
    this.#storage = storage;
    this.#place = place;
  }

  /** What was kept; undefined where nothing is that can be read. */
  read(): Workflow | undefined {
    try {
      const head = JSON.parse(this.#storage.getItem(this.#place) ?? 'null') as {
        readonly tasks?: unknown;
        readonly edges?: unknown;
      } | null;
      if (head === null) return undefined;
      this.#counts.tasks = Number(head.tasks) || 0;
      this.#counts.edges = Number(head.edges) || 0;
      return workflowOfSaved({ ...head, tasks: this.#readParts('tasks'), edges: this.#readParts('edges') });
    } catch {
      return undefined;
    }
  }

  /**
   * Keeps a workflow. @returns whether it could be kept; what is too large for the storage is not, nor is what was kept
   * before.
   */
  keep(workflow: Workflow): boolean {
    try {
      for (const kind of kinds) this.#keepParts(kind, workflow[kind]);
      this.#storage.setItem(
        this.#place,
        JSON.stringify({
          format: 'mutirao-workflow-1',
          name: workflow.name,
          outputs: workflow.outputs,
          tasks: this.#counts.tasks,
          edges: this.#counts.edges,
        }),
      );
      return true;
    } catch {
      this.#forget();
      return false;
    }
  }

  #readParts(kind: Kind): unknown[] {
    return Array.from(
      { length: this.#counts[kind] },
      (_, index) => JSON.parse(this.#storage.getItem(this.#partPlace(kind, index)) ?? '[]') as unknown[],
    ).flat();
  }

  #keepParts(kind: Kind, list: readonly unknown[]): void {
    const old = this.#kept[kind];
    const count = Math.ceil(list.length / partSize);
    for (let index = 0; index < count; index += 1) {
      const part = list.slice(index * partSize, (index + 1) * partSize);
      const isKept =
        index < this.#counts[kind] &&
        part.every((one, at) => one === old[index * partSize + at]) &&
        (index < count - 1 || part.length === Math.min(partSize, old.length - index * partSize));
      if (!isKept) this.#storage.setItem(this.#partPlace(kind, index), JSON.stringify(part));
    }
    for (let index = count; index < this.#counts[kind]; index += 1)
      this.#storage.removeItem(this.#partPlace(kind, index));
    this.#counts[kind] = count;
    this.#kept = { ...this.#kept, [kind]: list };
  }

  #forget(): void {
    this.#storage.removeItem(this.#place);
    for (const kind of kinds) {
      // One more than is known: the last that was begun.
      for (
        let index = 0;
        index <= Math.ceil(Math.max(this.#counts[kind], this.#kept[kind].length / partSize)) + 200;
        index += 1
      )
        this.#storage.removeItem(this.#partPlace(kind, index));
      this.#counts[kind] = 0;
    }
    this.#kept = { tasks: [], edges: [] };
  }

  #partPlace(kind: Kind, index: number): string {
    return `${this.#place}.${kind}.${index}`;
  }
}
