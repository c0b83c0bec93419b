import { expandPathVariables, parseTemplate, pathVariablesOf, renderPath, type PathVariables, type Template } from '@mutirao/core/bag';
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

/** Fills in the paths of one task on one machine. */
export type FillIn = (template: string) => string;

/** Templates that were read, so that a path of a million tasks is parsed once. Bounded; the oldest go first. */
export class Templates {
  readonly #parsed = new Map<string, Template>();
  readonly #entriesMax: number;

  constructor(entriesMax = 10_000) {
    this.#entriesMax = entriesMax;
  }

  /** Makes what fills in the paths of a task: `{}`, `{#}`, `$JOB`, `$TASK`, `$PROC` and the machine's attributes. */
  fillIn(task: TaskOfTemplate, place: Place): FillIn {
    const variables = pathVariablesOf({ ...place, taskIndex: task.taskIndex });
    return (template) => this.#render(template, task, variables);
  }

  /** As `fillIn`, before the job has a number and the task a machine. */
  fillInEarly(task: TaskOfTemplate): FillIn {
    const variables: PathVariables = [['TASK', String(task.taskIndex)]];
    return (template) => this.#render(template, task, variables);
  }

  #render(text: string, task: TaskOfTemplate, variables: PathVariables): string {
    if (!text.includes('{') && !text.includes('$')) return text;
    let template = this.#parsed.get(text);
    if (template === undefined) {
      template = parseTemplate(text);
      this.#parsed.set(text, template);
      if (this.#parsed.size > this.#entriesMax) this.#parsed.delete(this.#parsed.keys().next().value as string);
    }
    return renderPath(template, task.value, task.taskIndex, (part) => expandPathVariables(part, variables));
  }
}

/** Whether a path says where it leads before its job has a number and its task a machine. */
export function isKnownEarly(template: string): boolean {
  return !template.replaceAll('$TASK', '').includes('$');
}

/** How many tasks a group has. */
export function countOf(values: Values): number {
  return values.kind === 'range' ? values.count : values.values.length;
}

/** The value of the task at a position of its group. */
export function valueAt(values: Values, position: number): string {
  return values.kind === 'range' ? String(values.first + position * values.step) : (values.values[position] ?? '');
}
