import type { RouteBody } from '../../../src/schema/index.ts';

type BagSpec = RouteBody<'submitBag'>;
export type DroppedFile = NonNullable<BagSpec['files']>[number];

/** What is typed into the form of a bag, as it is typed. */
export interface BagDraft {
  readonly command: string;
  readonly kind: 'single' | 'array' | 'list' | 'csv';
  readonly selector: string;
  readonly list: string;
  readonly csv: string;
  readonly label: string;
  readonly directory: string;
  /** Whether tasks start in that folder. */
  readonly isInPlace: boolean;
  readonly put: string;
  readonly get: string;
  readonly requirements: string;
  readonly check: string;
  readonly environment: string;
  readonly processors: string;
  readonly retries: string;
  readonly minutes: string;
}

export const emptyBag: BagDraft = {
  command: '',
  kind: 'array',
  selector: '1-100',
  list: '',
  csv: '',
  label: '',
  directory: '',
  isInPlace: false,
  put: '',
  get: '',
  requirements: '',
  check: '',
  environment: '',
  processors: '',
  retries: '',
  minutes: '',
};

/** What the draft asks for, or which of its fields cannot be read and why. */
export type BagReading = { readonly spec: BagSpec } | { readonly field: keyof BagDraft; readonly message: string };

/** Reads a draft. What the gateway judges (selectors, requirements, columns of a CSV) is passed on as it is. */
export function readBag(draft: BagDraft, files: readonly DroppedFile[]): BagReading {
  if (draft.command.trim() === '') return { field: 'command', message: 'Enter a command.' };
  const values = getValues(draft);
  if ('message' in values) return values;
  const numbers = listNumbers(draft);
  if ('message' in numbers) return numbers;
  const environment = getEnvironment(draft.environment);
  if ('message' in environment) return environment;
  return {
    spec: {
      command: draft.command,
      values,
      ...numbers,
      ...listTexts(draft),
      ...(draft.isInPlace && { in_place: true }),
      ...(Object.keys(environment.variables).length > 0 && { environment: environment.variables }),
      ...(files.length > 0 && { files: [...files] }),
    },
  };
}

/** A draft with the request of an earlier job. */
export function getDraft({ values, ...bag }: BagSpec): BagDraft {
  return {
    ...emptyBag,
    command: bag.command,
    kind: values.kind,
    selector: values.kind === 'array' ? values.selector : emptyBag.selector,
    list: values.kind === 'list' ? values.values.join('\n') : '',
    csv: values.kind === 'csv' ? values.text : '',
    isInPlace: bag.in_place ?? false,
    ...draftTexts(bag),
    ...draftNumbers(bag),
  };
}

function draftTexts(bag: Omit<BagSpec, 'values'>): Partial<BagDraft> {
  const { label = '', directory = '', requirements = '', check = '', put = [], get = [], environment = {} } = bag;
  const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return {
    label,
    directory,
    requirements,
    check,
    put: put.join('\n'),
    get: get.join('\n'),
    environment: lines.join('\n'),
  };
}

function draftNumbers({ processors, retries, run_time_ms_max: runTime }: Omit<BagSpec, 'values'>): Partial<BagDraft> {
  return {
    processors: processors?.toString() ?? '',
    retries: retries?.toString() ?? '',
    minutes: runTime === undefined ? '' : String(runTime / 60_000),
  };
}

type Fault = { readonly field: keyof BagDraft; readonly message: string };

function getValues({ kind, selector, list, csv }: BagDraft): BagSpec['values'] | Fault {
  switch (kind) {
    case 'single':
      return { kind };
    case 'array':
      return selector.trim() === ''
        ? { field: 'selector', message: 'Enter the numbers: 1-100, 0-90:10 or 1,3,5-8.' }
        : { kind, selector: selector.trim() };
    case 'list': {
      const values = list
        .split('\n')
        .map((line) => line.replace(/\r$/, ''))
        .filter((line) => line !== '');
      return values.length === 0 ? { field: 'list', message: 'Enter one value per line.' } : { kind, values };
    }
    case 'csv':
      return csv.trim() === '' ? { field: 'csv', message: 'Paste or drop a CSV with a heading.' } : { kind, text: csv };
  }
}

const numberFields = {
  processors: { least: 1, most: 65_536 },
  retries: { least: 0, most: 99 },
  minutes: { least: 0, most: 100_000 },
} as const;

function listNumbers(draft: BagDraft): Pick<BagSpec, 'processors' | 'retries' | 'run_time_ms_max'> | Fault {
  const read: Partial<Record<keyof typeof numberFields, number>> = {};
  for (const field of ['processors', 'retries', 'minutes'] as const) {
    const text = draft[field].trim();
    const { least, most } = numberFields[field];
    const number = Number(text);
    if (text === '') continue;
    if (
      !Number.isFinite(number) ||
      number < least ||
      number > most ||
      (field !== 'minutes' && !Number.isInteger(number))
    )
      return { field, message: `${text} is not a number from ${least} to ${most}.` };
    read[field] = number;
  }
  const { minutes, ...others } = read;
  return { ...others, ...(minutes !== undefined && minutes > 0 && { run_time_ms_max: Math.round(minutes * 60_000) }) };
}

function listTexts(draft: BagDraft): Partial<BagSpec> {
  const texts: Partial<BagSpec> = {};
  for (const field of ['label', 'directory', 'requirements', 'check'] as const)
    if (draft[field].trim() !== '') texts[field] = draft[field].trim();
  for (const field of ['put', 'get'] as const) {
    const lines = listLines(draft[field]);
    if (lines.length > 0) texts[field] = lines;
  }
  return texts;
}

function getEnvironment(text: string): { readonly variables: Record<string, string> } | Fault {
  const variables: Record<string, string> = {};
  for (const line of listLines(text)) {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined)
      return { field: 'environment', message: `Expected NAME=VALUE, found ${line}.` };
    variables[name] = value;
  }
  return { variables };
}

function listLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/**
 * Why files may not be added to those that are there: a name twice or with folders, too many, too large. @param
 * bytesMax of all, as base64.
 */
export function refuseFiles(files: readonly DroppedFile[], bytesMax: number): string | undefined {
  const names = new Set<string>();
  for (const { name } of files) {
    const refusal = refuseName(name);
    if (refusal !== undefined) return refusal;
    if (names.has(name)) return `There is a file ${name} already.`;
    names.add(name);
  }
  if (files.length > 100) return 'No more than 100 files; put a folder with "put" instead.';
  const bytes = files.reduce((sum, { content_base64: content }) => sum + content.length, 0);
  return bytes > bytesMax
    ? `These files are too large for the page: ${Math.ceil((bytes * 0.75) / 1e6)} MB, and no more than ` +
        `${Math.floor((bytesMax * 0.75) / 1e6)} MB fit. Name them with "put" instead.`
    : undefined;
}

function refuseName(name: string): string | undefined {
  if (name === '' || name.length > 255 || /[/\\\0]/.test(name) || name === '.' || name === '..')
    return `${name} is not a valid file name.`;
  return /[:$\n\r]/.test(name)
    ? `${name} has a colon, a $ or a line break in its name, which mean something in the paths of a job; rename it.`
    : undefined;
}
