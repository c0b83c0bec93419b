import type { GetReason } from '@mutirao/core/reasons';
import { describeAmount } from '@mutirao/core/resources';
import { plural } from '@mutirao/core/shared';

import type { Catalogue } from './catalogue.ts';

/** What is wrong with requirements, or holds on no machine. */
export const requirementFaults = {
  'requirements-unreadable': (fault) => `requirements, character ${fault.character}: ${problem(fault)}`,
  'gang-width-misplaced': (fault) => problem(fault),
  'gang-width-invalid': (fault) => problem(fault),
  'gang-widths-differ': (fault) => problem(fault),
  'requirement-not-number': ({ requirement, comparison, wantedValue, isMemory }) =>
    `${requirement}: "${comparison}" compares numbers, and "${wantedValue}" is not one; expected a number` +
    (isMemory ? ' of MiB, or one with a unit, such as 2GiB' : ''),
  'requirement-without-value': ({ attribute }) => `"${attribute}" alone never holds; write "${attribute} == VALUE"`,
  'requirement-attribute-unknown': ({ attribute, advice, similarAttribute, statedAttributes }) => {
    const stated = `no known machine states "${attribute}"`;
    if (advice !== 'none') return `${stated}: ${otherWays[advice]}`;
    return similarAttribute === undefined
      ? `${stated}; machines state ${statedAttributes.join(', ')}`
      : `${stated}; did you mean "${similarAttribute}"?`;
  },

  'processors-above-widest': ({ processors, processorsMax }) =>
    `a task needs ${plural(processors, 'processor')} of one machine; the largest known machine has ` +
    `${processorsMax}. --gang combines processors of several machines; "mutirao up --cluster-nodes" and "mutirao machine add" ` +
    'add larger machines',
  'gang-above-largest-provider': ({ processors, processorsMax, providerId }) =>
    `a task needs ${plural(processors, 'processor')} of one provider; the largest, ${providerId}, has ${processorsMax}`,
  'resources-not-together': () => 'no known machine has everything that a task needs at once',
  'resource-above-largest': ({ resource: kind, resourceName: name, needed, total }) =>
    `a task needs ${describeAmount({ kind, name }, needed)}; the largest known machine has ` +
    describeAmount({ kind, name }, total),
  'resource-nowhere': ({ resource: kind, resourceName: name, needed, similarName, knownNames }) => {
    const lacking = `a task needs ${describeAmount({ kind, name }, needed)}; no known machine has any`;
    if (similarName !== undefined) return `${lacking}; did you mean "${similarName}"?`;
    return knownNames.length === 0 ? lacking : `${lacking}; machines have ${knownNames.join(', ')}`;
  },
} satisfies Partial<Catalogue>;

type Unreadable = GetReason<
  'requirements-unreadable' | 'gang-width-misplaced' | 'gang-width-invalid' | 'gang-widths-differ'
>;

/** What stands in requirements, and what is expected there: parts of a sentence. */
export function describeRequirementsFault(fault: Unreadable): { readonly found: string; readonly expected: string } {
  switch (fault.code) {
    case 'requirements-unreadable':
      return { found: fault.found === undefined ? 'the end' : JSON.stringify(fault.found), expected: expected(fault) };
    case 'gang-width-misplaced':
      return {
        found: JSON.stringify(fault.requirement),
        expected: 'num_procs joined to the rest by "&&" only, because it is a property of the job, not of a machine',
      };
    case 'gang-width-invalid':
      return {
        found: JSON.stringify(fault.requirement),
        expected: `"num_procs == N" with N in 1..${fault.processorsMax}`,
      };
    case 'gang-widths-differ':
      return {
        found: `num_procs of ${fault.processors} and of ${fault.otherProcessors}`,
        expected: 'one number of processors',
      };
  }
}

function problem(fault: Unreadable): string {
  const { found, expected: wanted } = describeRequirementsFault(fault);
  return `found ${found}, expected ${wanted}`;
}

function expected({ expected: what, name = '', levelsMax = 0 }: GetReason<'requirements-unreadable'>): string {
  switch (what) {
    case 'value':
      return `the value that "${name}" is compared with`;
    case 'asked-name':
      return `the name that ${name.toUpperCase()} asks for`;
    case 'least-version':
      return `the least version of "${name}"`;
    case 'fewer-levels':
      return `at most ${levelsMax} levels of brackets and negations`;
    default:
      return expectedTexts[what];
  }
}

const expectedTexts = {
  operator: '"&&", "||" or the end',
  'operator-or-bracket': '"&&", "||" or ")"',
  attribute: 'an attribute name, "not" or "("',
  comparison: 'one of ==, !=, <, >, <=, >=',
  and: '"&&"',
  or: '"||"',
  token: 'a name, a value or an operator',
  'closing-quote': 'a closing double quote',
} as const;

/** What says it where people take a name for an attribute. */
const otherWays = {
  processors: '--processors N gives a task several processors',
  'run-time': '--limit-time limits how long a task may run',
  memory: 'the memory of a machine, in MiB, is "mem"',
  'host-name': 'the name of a machine is "hostname"',
  'processor-family': 'the kind of processor is "processorfamily"',
  site: 'where a machine is, is "site"',
} as const;
