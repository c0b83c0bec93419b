import type { ReactNode } from 'react';
import { sayCount, sayDuration } from '../../model/words.ts';
import { TextField } from './property-fields.tsx';
import type { Editor } from './use-editor.ts';

/** The workflow's own properties, and what it is like. */
export function WorkflowPanel({
  editor: { workflow, analysis, apply, select },
}: {
  readonly editor: Editor;
}): ReactNode {
  const outputs = workflow.outputs ?? [];
  const facts: (readonly [string, string])[] = [
    ['Tasks', sayCount(workflow.tasks.length)],
    ['Edges', sayCount(workflow.edges.length)],
    ['Levels', sayCount(analysis.levelCount)],
    ['Widest level', sayCount(analysis.widestLevel)],
    ['Total work', sayDuration(analysis.workSeconds * 1000)],
    ['Critical path', sayDuration(analysis.criticalSeconds * 1000)],
  ];
  return (
    <div className="properties">
      <TextField
        id="workflow-name"
        label="Name"
        value={workflow.name}
        onChange={(name) => {
          apply({ kind: 'ChangeWorkflow', change: { name } }, 'workflow name');
        }}
      />
      <TextField
        id="workflow-outputs"
        label="Outputs of the workflow"
        hint="intermediate files to collect as well"
        value={outputs.join('\n')}
        rows={2}
        code
        onChange={(text) => {
          const names = text
            .split('\n')
            .map((name) => name.trim())
            .filter((name) => name !== '');
          apply({ kind: 'ChangeWorkflow', change: { outputs: names.length === 0 ? null : names } }, 'workflow outputs');
        }}
      />
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {analysis.criticalPath.length === 0 ? null : (
        <>
          <h3>Critical path</h3>
          <ol className="critical-path">
            {analysis.criticalPath.slice(0, 30).map((id) => (
              <li key={id}>
                <button
                  type="button"
                  className="link"
                  onClick={() => select({ tasks: new Set([id]), edges: new Set() })}
                >
                  {id}
                </button>{' '}
                <span className="faint">b {(analysis.bLevels.get(id) ?? 0).toFixed(1)} s</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}
