import { MutiraoError } from '@mutirao/api/errors';
import type { ProcessorCount } from '@mutirao/core/shared';

/** A node as the configuration states it. */
export interface NodeConfig {
  readonly name: string;
  /** `user@host`, or a name of ssh's configuration. */
  readonly destination: string;
  readonly processors: ProcessorCount;
}

const processorsMax = 65_536;

/** Reads `NAME=ssh:USER@HOST:PROCESSORS` each. @throws {MutiraoError} MUT_BAD_CONFIG */
export function parseNodes(texts: readonly string[]): NodeConfig[] {
  const nodes = texts.map(parseNode);
  const names = new Set<string>();
  for (const { name } of nodes) {
    if (names.has(name))
      throw new MutiraoError('MUT_BAD_CONFIG', `two nodes are named "${name}"; expected another name for each`);
    names.add(name);
  }
  return nodes;
}

function parseNode(text: string): NodeConfig {
  const [, name = '', destination = '', count = ''] =
    /^([A-Za-z0-9_][\w.-]{0,63})=ssh:([^\s-]\S*):(\d{1,5})$/.exec(text) ?? [];
  const processors = Number(count);
  if (name === '' || processors < 1 || processors > processorsMax) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `node is "${text}"; expected NAME=ssh:USER@HOST:PROCESSORS, for example n1=ssh:ana@node1:8`,
    );
  }
  return { name, destination, processors };
}
