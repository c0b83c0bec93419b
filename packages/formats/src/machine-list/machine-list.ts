import type { Warning } from '../jdf/reader.ts';

/**
 * How a machine is reached where no Mutirao program may run: command lines of its owner's, in which a shell fills in
 * variables.
 */
export interface MachineTemplates {
  /** Runs `$command` on `$machine`. */
  readonly remExec: string;
  /** Copies `$localfile` to `$remotefile` on `$machine`. */
  readonly copyTo: string;
  /** Copies `$remotefile` on `$machine` to `$localfile`. */
  readonly copyFrom: string;
}

/** A machine as a file states it. */
export interface ListedMachine {
  /** Of its heading; counted from 1, as `column` is. */
  readonly line: number;
  readonly column: number;
  /** No other machine of the file has it. */
  readonly name: string;
  readonly host: string;
  /** Login name there; empty for one's own. */
  readonly user: string;
  /** The host on the way to it; empty for none. */
  readonly gateway: string;
  /** In lower case; empty where none is stated. */
  readonly type: string;
  /** Where its files go; empty for our choice. */
  readonly folder: string;
  /** 0 where the file does not say. */
  readonly processors: number;
  readonly templates: MachineTemplates | undefined;
  /** What requirements may ask for; names in lower case. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** A peer of OurGrid 4 as a grid file states it: a whole site. */
export interface ListedPeer {
  /** Of its heading; counted from 1, as `column` is. */
  readonly line: number;
  readonly column: number;
  /** Empty where none is stated. */
  readonly label: string;
  readonly user: string;
  readonly server: string;
}

/** What a file of workers, machines or peers holds, in its order. */
export interface MachineList {
  readonly format: 'sdf' | 'gdf-g2' | 'gdf';
  /** Empty for a list of peers. */
  readonly machines: readonly ListedMachine[];
  /** Empty for a list of machines. */
  readonly peers: readonly ListedPeer[];
  /** In the order of the file. */
  readonly warnings: readonly Warning[];
}
