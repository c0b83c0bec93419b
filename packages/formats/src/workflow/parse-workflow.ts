import { detectFormat } from '../detect-format.ts';
import { FormatError } from '../format-error.ts';
import { parseDax } from './dax/parse-dax.ts';
import { parseJobXml } from './job-xml.ts';
import { parseWfFormat } from './wf-format/parse-wf-format.ts';
import type { WorkflowDocument } from './workflow-document.ts';
import { parseYamlWorkflow } from './yaml-workflow.ts';

/**
 * Reads a workflow in whichever of the formats it is written: WfFormat, DAX, our job XML, or YAML.
 *
 * @throws {FormatError} with the code and the place of what is wrong.
 */
export function parseWorkflow(text: string, subject: string): WorkflowDocument {
  requireByteOrderMark(text, subject);
  const format = detectFormat(text);
  switch (format) {
    case 'wfformat':
      return parseWfFormat(text, subject);
    case 'json':
      if (text.includes('"schemaVersion"')) return parseWfFormat(text, subject);
      // Programs write YAML as JSON, which it holds.
      if (!/"workflow"\s*:/.test(text) && /[{,\s]"?tasks"?\s*:/.test(text)) return parseYamlWorkflow(text, subject);
      throw new FormatError({
        code: 'MUT_WORKFLOW_SYNTAX',
        subject,
        line: 1,
        column: 1,
        found: 'JSON without schemaVersion',
        expected: 'WfFormat, DAX, job XML or YAML',
      });
    case 'dax':
      return parseDax(text, subject);
    case 'xml':
      return parseJobXml(text, subject);
    case 'workflow':
    case 'jdf':
    case 'jdf-g1':
    case 'jdf-arrebol':
    case 'jdl':
    case 'swf':
    case 'sdf':
    case 'sdf-classad':
    case 'gdf':
    case 'gdf-g1':
    case 'gdf-g2':
    case 'unknown':
      return parseYamlWorkflow(text, subject);
    default:
      throw new FormatError({
        code: 'MUT_WORKFLOW_SYNTAX',
        subject,
        line: 1,
        column: 1,
        found: `the format ${String(format)}`,
        expected: 'WfFormat, DAX, job XML or YAML',
      });
  }
}

/** UTF-16 that does not say so is read as UTF-8, with a NUL next to each letter. @throws {FormatError} MUT_BAD_REQUEST */
function requireByteOrderMark(text: string, subject: string): void {
  if (text[0] !== '\0' && text[1] !== '\0') return;
  throw new FormatError({
    code: 'MUT_BAD_REQUEST',
    subject,
    line: 1,
    column: 1,
    found: 'a NUL next to the first letter, as in UTF-16',
    expected: 'text in UTF-8, as "iconv -f utf-16le -t utf-8" makes it, or a byte order mark before UTF-16',
  });
}
