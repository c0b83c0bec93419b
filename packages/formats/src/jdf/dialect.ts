import { findFormat, type Format } from '../detect-format.ts';
import type { FormatError } from '../format-error.ts';
import type { JdfReader } from './reader.ts';

/** The names of other formats that are found in place of a job file, for people. */
const namesOf: Partial<Readonly<Record<Format, string>>> = {
  'jdf-g1': 'a job file of MyGrid 1 (INIT = ... ;)',
  'jdf-arrebol': "a job file of Arrebol's dialect",
  jdl: 'a JDL job (ClassAd)',
  'sdf-classad': 'a list of workers (SDF as ClassAd)',
  gdf: 'a list of peers (GDF)',
  'gdf-g1': 'a grid file of MyGrid 1 (GDF)',
  'gdf-g2': 'a list of grid machines (GDF)',
  sdf: 'a list of workers (SDF)',
  wfformat: 'a workflow (WfFormat)',
  json: 'JSON',
  dax: 'a workflow (DAX)',
  xml: 'XML',
  swf: 'a workload trace (SWF)',
};

const wanted = 'a job file (JDF) as OurGrid 3 to 4.2 reads it';

/**
 * @throws {FormatError} MUT_JDF_DIALECT, with the dialect's name, when the text is in another format that we recognize.
 */
export function refuseOtherDialects(reader: JdfReader): void {
  const { format, offset } = findFormat(reader.text);
  const name = namesOf[format];
  if (name !== undefined) throw reader.error({ code: 'MUT_JDF_DIALECT', found: name, expected: wanted }, offset);
}

/** The error for a command that stands directly in a task: MUT_JDF_DIALECT. */
export function arrebolTask(reader: JdfReader): FormatError {
  const found = `a command in the task itself, as in ${namesOf['jdf-arrebol'] ?? ''}`;
  return reader.error({ code: 'MUT_JDF_DIALECT', found, expected: `${wanted}: "remote:" before the command` });
}
