import type { ReasonTable } from './parameters.ts';

const named = ['memory', 'gpus', 'named'] as const;

/** What is wrong with requirements, or holds on no machine. */
export const requirementFaults = {
  'requirements-unreadable': {
    /** From 1 on. */
    character: 'number',
    /** What stands there; left out for the end. */
    found: 'text?',
    expected: [
      'operator',
      'operator-or-bracket',
      'attribute',
      'comparison',
      'value',
      'asked-name',
      'least-version',
      'and',
      'or',
      'token',
      'closing-quote',
      'fewer-levels',
    ],
    /** What the value or the name is for. */
    name: 'text?',
    levelsMax: 'number?',
  },
  'gang-width-misplaced': { requirement: 'text' },
  'gang-width-invalid': { requirement: 'text', processorsMax: 'number' },
  'gang-widths-differ': { processors: 'number', otherProcessors: 'number' },
  'requirement-not-number': {
    requirement: 'text',
    comparison: 'text',
    wantedValue: 'text',
    /** Whether it asks for memory, in MiB. */
    isMemory: 'flag',
  },
  'requirement-without-value': { attribute: 'text' },
  'requirement-attribute-unknown': {
    attribute: 'text',
    /** What says it here, where people take the name for something else. */
    advice: ['none', 'processors', 'run-time', 'memory', 'host-name', 'processor-family', 'site'],
    similarAttribute: 'text?',
    statedAttributes: 'texts',
  },

  // Requested resources; amounts are in bytes, thousandths of a GPU, or units of the named resource.
  'processors-above-widest': { processors: 'number', processorsMax: 'number' },
  'gang-above-largest-provider': { processors: 'number', processorsMax: 'number', providerId: 'text' },
  'resources-not-together': {},
  'resource-above-largest': { resource: named, resourceName: 'text', needed: 'number', total: 'number' },
  'resource-nowhere': {
    resource: named,
    resourceName: 'text',
    needed: 'number',
    similarName: 'text?',
    knownNames: 'texts',
  },
} as const satisfies ReasonTable;
