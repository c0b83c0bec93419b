import { MutiraoError } from '@mutirao/api/errors';
import { sayReason } from '@mutirao/api/reasons';
import {
  expandPathVariables,
  fillPath,
  parseTemplate,
  renderPath,
  type FilledPath,
  type Template,
} from '@mutirao/core/bag';
import type { Values } from '@mutirao/core/messages';
import type { JobId, MachineId, TaskIndex } from '@mutirao/core/shared';

/** The task that a template is filled in for. */
export interface TaskOfTemplate {
  readonly taskIndex: TaskIndex;
  readonly value: string;
}

/** Where a task runs. */
export interface Place {
  readonly jobId: JobId;
  readonly machineId: MachineId;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Fills in the paths of one task on one machine.
 *
 * @throws {MutiraoError} MUT_UNSAFE_ATTRIBUTE if an attribute of the machine cannot be part of a name.
 */
export type FillIn = (template: string) => FilledPath;

/** Templates that were read, so that a path of a million tasks is parsed once. Bounded; the oldest go first. */
export class Templates {
  readonly #parsed = new Map<string, Template>();
  readonly #entriesMax: number;

  constructor(entriesMax = 10_000) {
    this.#entriesMax = entriesMax;
  }

  /** Makes what fills in the paths of a task: `{}`, `{#}`, `$JOB`, `$TASK`, `$PROC` and the machine's attributes. */
  fillIn(task: TaskOfTemplate, place: Place): FillIn {
    const words = { value: task.value, index: task.taskIndex, place: { ...place, taskIndex: task.taskIndex } };
    return (text) => {
      if (isPlain(text)) return { path: text, machineFrom: undefined };
      const filled = fillPath(this.#parse(text), words);
      if ('fault' in filled)
        throw new MutiraoError(
          'MUT_UNSAFE_ATTRIBUTE',
          `${JSON.stringify(text)} cannot be filled in: ${sayReason(filled.fault)}`,
          { reason: filled.fault },
        );
      return filled;
    };
  }

  /** Fills in paths of a task before its job has a number and the task a machine. */
  fillInEarly(task: TaskOfTemplate): (template: string) => string {
    const variables = [['TASK', String(task.taskIndex)]] as const;
    return (text) =>
      isPlain(text)
        ? text
        : renderPath(this.#parse(text), task.value, task.taskIndex, (part) => expandPathVariables(part, variables));
  }

  #parse(text: string): Template {
    let template = this.#parsed.get(text);
    if (template === undefined) {
      template = parseTemplate(text);
      this.#parsed.set(text, template);
      if (this.#parsed.size > this.#entriesMax) this.#parsed.delete(this.#parsed.keys().next().value as string);
    }
    return template;
  }
}

/**
 * The value of `$PROC` for a check, which may put it into a path; the machine's id if `$PROC` cannot be part of a name.
 */
export function getProcessor(fillIn: FillIn, { machineId }: Pick<Place, 'machineId'>): string {
  try {
    return fillIn('$PROC').path;
  } catch {
    return machineId;
  }
}

function isPlain(text: string): boolean {
  return !text.includes('{') && !text.includes('$');
}

/** Whether a path says where it leads before its job has a number and its task a machine. */
export function isKnownEarly(template: string): boolean {
  return !template.replaceAll('$TASK', '').includes('$');
}

/** How many tasks a group has. */
export function countValues(values: Values): number {
  return values.kind === 'range' ? values.count : values.values.length;
}

/** The value of the task at a position of its group. */
export function valueAt(values: Values, position: number): string {
  return values.kind === 'range' ? String(values.first + position * values.step) : (values.values[position] ?? '');
}
