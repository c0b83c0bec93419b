import { isAlias, isMap, isNode, isScalar, isSeq, visit, type Document } from 'yaml';

/** How YAML is read: each scalar is the text that stands in the file. */
export const yamlLimits = { logLevel: 'error' as const, schema: 'failsafe' as const, uniqueKeys: true, merge: false };

/** What is wrong in a YAML text, and the offset where it is. */
export interface YamlFault {
  readonly position: number;
  readonly found: string;
  readonly expected: string;
}

/** Types that say what a value is anyway. */
const usualTypes: ReadonlySet<string> = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** What is wrong in a document, the first first: what is not YAML, and what would be left out or read as something else. */
export function listYamlFaults(document: Document.Parsed): YamlFault[] {
  const [error] = document.errors;
  if (error !== undefined) {
    const [position] = error.pos;
    if (error.code === 'MULTIPLE_DOCS')
      return [{ position, found: 'a second document', expected: 'one workflow in a file' }];
    // The parser says the place within its text, too.
    const found = (error.message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');
    return [{ position, found, expected: 'YAML' }];
  }
  const faults: YamlFault[] = [];
  visit(document, {
    Node: (_, node) => {
      const fault = findNodeFault(node);
      if (fault !== undefined) faults.push({ position: node.range?.[0] ?? 0, ...fault });
    },
    Pair: (_, { key }) => {
      if (isNode(key) && !isScalar(key) && !isAlias(key))
        faults.push({ position: key.range?.[0] ?? 0, found: 'a list or a map as a name', expected: 'a text' });
    },
  });
  return faults.sort((a, b) => a.position - b.position);
}

/** No aliases: a few lines of them can stand for more than fits into memory. */
function findNodeFault(node: unknown): Omit<YamlFault, 'position'> | undefined {
  if (isAlias(node))
    return {
      found: `the alias *${node.source}`,
      expected: 'the value itself, or quotes around a text that begins with *',
    };
  if (!isNode(node) || isAlias(node) || node.tag === undefined || usualTypes.has(node.tag)) return undefined;
  return {
    found: `a value of the type ${node.tag.replace('tag:yaml.org,2002:', '!!')}`,
    expected: 'a value without a type',
  };
}

/** The plain value of a node: texts, lists, objects, and null for nothing. */
export function makePlainValue(node: unknown): unknown {
  if (isMap(node)) return Object.fromEntries(node.items.map(({ key, value }) => [getText(key), makePlainValue(value)]));
  if (isSeq(node)) return node.items.map(makePlainValue);
  if (!isScalar(node)) return null;
  return node.type === 'PLAIN' && ['', '~', 'null'].includes(String(node.value)) ? null : node.value;
}

function getText(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}
