import { FormatError } from '../../format-error.ts';
import { findText, type XmlElement } from '../read-xml.ts';
import { part, type FormatPart } from '../format-parts.ts';

/** What the profiles of a job say of it. */
export interface JobProfiles {
  readonly seconds?: number | undefined;
  readonly processors?: number | undefined;
  /** In bytes. */
  readonly memory?: number | undefined;
  readonly gpus?: number | undefined;
  /** Where the program is. */
  readonly program?: string | undefined;
  readonly environment: ReadonlyMap<string, string>;
}

const mebibyte = 1024 * 1024;
const seriousChange = 'a job without it: it changes what runs, or which end counts as a success';
const placement = 'how Pegasus or its batch system places the job';

/**
 * Profiles by `namespace::key`; `*` stands for all other keys of a namespace. The reader goes by this list, and so does
 * the table in docs/reference/workflow-formats.md.
 */
export const profileParts: readonly FormatPart[] = [
  part('pegasus::runtime', '2.1 to 3.6', 'read', 'run time in seconds; goes before the attribute `runtime`'),
  part(
    'pegasus::cores pegasus::pmc_request_cpus condor::request_cpus globus::count',
    '2.1 to 3.6',
    'read',
    'processors, the first of these that is there',
  ),
  part(
    'pegasus::memory pegasus::pmc_request_memory condor::request_memory globus::maxmemory',
    '2.1 to 3.6',
    'read',
    'memory of the task, in MiB or with a unit; the first of these that is there',
  ),
  part(
    'pegasus::gpus pegasus::request_gpus condor::request_gpus',
    '3.6',
    'read',
    'GPUs of the task, the first of these that is there',
  ),
  part('hints::pfn hints::pfnHint', '1.8 to 3.6', 'read', 'the program'),
  part('env::*', '1.8 to 3.6', 'read', 'an environment variable'),
  part('pegasus::nodes', '3.4 to 3.6', 'read', '1; more is refused: a task of a workflow runs on one machine'),
  part('globus::jobtype', '1.8 to 3.6', 'read', '`single`; others start several processes and are refused'),
  part(
    'pegasus::type',
    '2.1',
    'refused',
    'jobs only; a workflow within a workflow is a file of its own: submit it by itself',
  ),
  part(
    'pegasus::exitcode.successmsg pegasus::exitcode.failuremsg pegasus::pegasus_lite_env_source pegasus::container ' +
      'pegasus::container.arguments pegasus::container.launcher',
    '3.2 to 3.6',
    'refused',
    seriousChange,
  ),
  part(
    'condor::arguments condor::executable condor::environment condor::input condor::output condor::error ' +
      'condor::initialdir condor::remote_initialdir condor::transfer_input_files condor::transfer_output_files ' +
      'condor::transfer_output_remaps globus::directory globus::stdin globus::stdout globus::stderr ' +
      'globus::arguments globus::environment globus::executable',
    '1.8 to 3.6',
    'refused',
    seriousChange,
  ),
  part(
    'dagman::PRE dagman::POST dagman::PRE.ARGUMENTS dagman::POST.ARGUMENTS dagman::POST.SCOPE ' +
      'dagman::ABORT-DAG-ON dagman::NOOP',
    '1.8 to 3.6',
    'refused',
    seriousChange,
  ),
  part('pegasus::* condor::* globus::* dagman::* hints::* selector::* stat::*', '1.8 to 3.6', 'noted', placement),
];

/** Reads profiles; what is not used of them is counted, for a warning. */
export class ProfileReader {
  readonly #uses = new Map(profileParts.flatMap((row) => row.paths.map((path) => [path.toLowerCase(), row] as const)));
  readonly #noted = new Map<string, number>();
  readonly #subject: string;

  constructor(subject: string) {
    this.#subject = subject;
  }

  /**
   * The settings in profiles; of two for the same key, the later one counts.
   *
   * @throws {FormatError} MUT_WORKFLOW_UNKNOWN for a namespace that Pegasus does not have; MUT_WORKFLOW_UNSUPPORTED for
   * an unsupported setting; MUT_WORKFLOW_COST for a value that is not a number.
   */
  read(profiles: readonly XmlElement[]): JobProfiles {
    const values = new Map<string, { readonly value: string; readonly element: XmlElement }>();
    const environment = new Map<string, string>();
    for (const element of profiles) {
      const { namespace = '', key = '' } = element.attributes;
      const value = getValue(element);
      if (namespace === '' || key === '') this.#fail(element, 'MUT_WORKFLOW_SYNTAX', 'a namespace and a key');
      this.#check(element, `${namespace}::${key}`);
      if (namespace.toLowerCase() === 'env') environment.set(key, value);
      else values.set(`${namespace}::${key}`.toLowerCase(), { value, element });
    }
    this.#refuseSeveral(values);
    const first = (...names: string[]) => names.map((name) => values.get(name)).find((found) => found !== undefined);
    const number = (
      found: { readonly value: string; readonly element: XmlElement } | undefined,
      read: (text: string) => number | undefined,
    ): number | undefined => {
      if (found === undefined) return undefined;
      return read(found.value) ?? this.#fail(found.element, 'MUT_WORKFLOW_COST', 'a number');
    };
    return {
      seconds: number(first('pegasus::runtime'), readNumber),
      processors: number(
        first('pegasus::cores', 'condor::request_cpus', 'pegasus::pmc_request_cpus', 'globus::count'),
        readNumber,
      ),
      memory: number(
        first('pegasus::memory', 'condor::request_memory', 'pegasus::pmc_request_memory', 'globus::maxmemory'),
        readMemory,
      ),
      gpus: number(first('pegasus::gpus', 'pegasus::request_gpus', 'condor::request_gpus'), readWhole),
      program: first('hints::pfn', 'hints::pfnhint')?.value,
      environment,
    };
  }

  /** One sentence on all profiles that were found and are not used. */
  warnings(): string[] {
    if (this.#noted.size === 0) return [];
    const counts = [...this.#noted].map(([name, count]) => `${name} (${count})`).join(', ');
    return [`profiles that are not used: ${counts}; they say ${placement}`];
  }

  #check(element: XmlElement, name: string): void {
    const [namespace = ''] = name.split('::');
    const row = this.#uses.get(name.toLowerCase()) ?? this.#uses.get(`${namespace.toLowerCase()}::*`);
    if (row === undefined)
      this.#fail(
        element,
        'MUT_WORKFLOW_UNKNOWN',
        'a namespace of Pegasus: pegasus, condor, dagman, env, hints, globus, selector or stat',
      );
    else if (row.use === 'refused') this.#fail(element, 'MUT_WORKFLOW_UNSUPPORTED', row.becomes);
    else if (row.use === 'noted') this.#noted.set(name, (this.#noted.get(name) ?? 0) + 1);
  }

  #refuseSeveral(values: ReadonlyMap<string, { readonly value: string; readonly element: XmlElement }>): void {
    for (const name of ['pegasus::nodes', 'globus::jobtype']) {
      const found = values.get(name);
      if (found === undefined) continue;
      const usual = name === 'globus::jobtype' ? ['single'] : name === 'pegasus::nodes' ? ['0', '1'] : ['0'];
      if (!usual.includes(found.value.toLowerCase()))
        this.#fail(found.element, 'MUT_WORKFLOW_UNSUPPORTED', this.#uses.get(name)?.becomes ?? '');
    }
  }

  #fail(element: XmlElement, code: string, expected: string): never {
    const { namespace = '', key = '' } = element.attributes;
    throw new FormatError({
      code,
      subject: this.#subject,
      line: element.line,
      column: element.column,
      found: `the profile ${namespace}::${key} with the value ${JSON.stringify(getValue(element))}`,
      expected,
    });
  }
}

function getValue(element: XmlElement): string {
  return element.content
    .map((piece) => (typeof piece === 'string' ? piece : (piece.attributes['file'] ?? findText(piece))))
    .join('')
    .trim();
}

function readNumber(text: string): number | undefined {
  const value = Number(text);
  return text !== '' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function readWhole(text: string): number | undefined {
  const value = readNumber(text);
  return Number.isInteger(value) ? value : undefined;
}

/** Memory in MiB, or with a unit as HTCondor reads it. */
function readMemory(text: string): number | undefined {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const power = unit === '' || unit === undefined ? 2 : 'kmgt'.indexOf(unit.toLowerCase()) + 1;
  return Number(digits) * (power === 2 ? mebibyte : 1024 ** power);
}
