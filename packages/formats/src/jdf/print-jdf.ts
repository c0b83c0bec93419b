import { gangWidthName } from '@mutirao/core/requirements';
import { parseCommand, parseTemplate, renderCommand, renderPath } from '@mutirao/core/bag';
import type { InputSpec, JobSpec, OutputSpec, TaskGroup } from '@mutirao/core/messages';
import { emptyRequest, wholeDevice } from '@mutirao/core/resources';
import { FormatError } from '../format-error.ts';

/**
 * Writes a job as a job file: one task clause per task, its value filled in; local paths absolute.
 *
 * `parseJdf` reads the same tasks back. What JDF has no words for is left out: environment, limits, the most processors of a
 * task that can use several numbers, bounds on replicas and failures, deadline. Cost: the number of tasks.
 *
 * @throws {FormatError} MUT_BAD_REQUEST for what JDF cannot write: a line break in a command, an uploaded content.
 */
export function printJdf(job: JobSpec): string {
  const lines = ['job:'];
  if (job.label !== '') lines.push(`label: ${printLine(job.label)}`);
  if (job.siteSelection !== undefined) lines.push(`site-selection: ${job.siteSelection}`);
  let index = 0;
  for (const group of job.groups) {
    const { values } = group;
    const count = values.kind === 'range' ? values.count : values.values.length;
    for (let position = 0; position < count; position++, index++) {
      const value =
        values.kind === 'range' ? String(values.first + position * values.step) : (values.values[position] ?? '');
      lines.push(
        '',
        'task:',
        ...printRequest(job, group),
        ...printTask({ ...group, requirements: withWidth(job, group.requirements) }, { value, index }),
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

function withWidth({ gang, processors }: JobSpec, requirements: string): string {
  if (gang !== true) return requirements;
  const width = `${gangWidthName} == ${processors}`;
  return requirements === '' ? width : `${width} && ( ${requirements} )`;
}

/** What each task holds; the width of a gang stands in its requirements. */
function printRequest(
  { gang, processors: usual, resources: usualRequest = emptyRequest }: JobSpec,
  { processors = usual, resources = usualRequest }: TaskGroup,
): string[] {
  const { memory, gpus, gpuKind, named } = resources;
  const amounts = Object.entries(named).map(([name, amount]) => `${name}=${amount}`);
  return [
    ...(processors > 1 && gang !== true ? [`cpus: ${processors}`] : []),
    ...(memory > 0 ? [`memory: ${memory}`] : []),
    ...(gpus > 0 ? [`gpus: ${gpus / wholeDevice}${gpuKind === undefined ? '' : `:${gpuKind}`}`] : []),
    ...(amounts.length > 0 ? [`resource: ${amounts.join(' ')}`] : []),
  ];
}

interface TaskValue {
  readonly value: string;
  readonly index: number;
}

function printTask(group: TaskGroup, task: TaskValue): string[] {
  const lines: string[] = [];
  if (group.requirements !== '') lines.push(`requirements: ${printCondition(group.requirements)}`);
  if (group.inputs.length > 0) lines.push('init:', ...printBlock(group.inputs, (input) => printInput(input, task)));
  lines.push(`remote: ${printLine(renderCommand(parseCommand(group.command), task.value, task.index))}`);
  if (group.outputs.length > 0)
    lines.push('final:', ...printBlock(group.outputs, (output) => printOutput(output, task)));
  if (group.check !== '')
    lines.push(`check: ${printLine(renderCommand(parseCommand(group.check), task.value, task.index))}`);
  return lines;
}

function printBlock<Spec extends InputSpec | OutputSpec>(
  specs: readonly Spec[],
  print: (spec: Spec) => string,
): string[] {
  const lines: string[] = [];
  let condition = '';
  for (const spec of specs) {
    if (spec.condition !== condition) {
      if (condition !== '') lines.push('  endif');
      if (spec.condition !== '') lines.push(`  if ${printCondition(spec.condition)} then`);
      condition = spec.condition;
    }
    lines.push(`  ${print(spec)}`);
  }
  if (condition !== '') lines.push('  endif');
  return lines;
}

function printInput({ source, root, path, condition }: InputSpec, task: TaskValue): string {
  if (source.kind !== 'path') throw unprintable('an uploaded content', `a file at home (${path}${condition})`);
  const verb = root === 'storage' ? 'store' : 'put';
  return `${verb} ${printPath(source.path, task)} ${printPath(rooted(root, path), task)}`;
}

function printOutput({ root, path, localPath }: OutputSpec, task: TaskValue): string {
  if (localPath === '') throw unprintable(`the output ${path} without a place at home`, 'a local path');
  return `get ${printPath(rooted(root, path), task)} ${printPath(localPath, task)}`;
}

function rooted(root: 'playpen' | 'storage', path: string): string {
  const variable = root === 'storage' ? '$STORAGE' : '$PLAYPEN';
  return path === '.' ? variable : `${variable}/${path}`;
}

function printPath(template: string, { value, index }: TaskValue): string {
  const path = renderPath(parseTemplate(template), value, index);
  refuseLineBreak(path);
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}

/** Escapes a command or label so that it is read back as it is. */
function printLine(text: string): string {
  refuseLineBreak(text);
  if (text !== text.trim()) return `"${text.replace(/["\\]/g, '\\$&')}"`;
  return text.replaceAll('\\', '\\\\').replace(/^"/, '\\"');
}

function printCondition(text: string): string {
  refuseLineBreak(text);
  return text;
}

function refuseLineBreak(text: string): void {
  if (/[\n\r]/.test(text)) throw unprintable(`a line break in ${JSON.stringify(text)}`, 'one line');
}

function unprintable(found: string, expected: string): FormatError {
  return new FormatError({ code: 'MUT_BAD_REQUEST', subject: 'job as JDF', line: 0, column: 1, found, expected });
}
