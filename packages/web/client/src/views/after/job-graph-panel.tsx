import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { ReactFlowProvider } from '@xyflow/react';
import type { JobGraph, Workflow } from '../../../../src/schema/index.ts';
import type { WorkflowAnalysis } from '../../model/workflow/analysis.ts';
import { freshTask } from '../../model/workflow/graph.ts';
import { taskInks } from '../../model/palette.ts';
import { useAnswer, usePage } from '../../page-context.tsx';
import { Legend } from '../../parts/legend.tsx';
import { Answered, Empty, Loading, Panel } from '../../parts/notices.tsx';
import { FlowCanvas } from '../editor/flow-canvas.tsx';
import { layOutWorkflow } from '../editor/lay-out-workflow.ts';
import { listStatuses } from '../editor/use-run.ts';

const drawnMax = 5000;
const noAnalysis: WorkflowAnalysis = {
  fault: undefined,
  bLevels: new Map(),
  criticalPath: [],
  criticalSeconds: 0,
  levelCount: 0,
  widestLevel: 0,
  workSeconds: 0,
};

/** The graph of a job as it runs. */
export function JobGraphPanel({ jobId, everyMs }: { readonly jobId: number; readonly everyMs: number }): ReactNode {
  const answer = useAnswer('getJobGraph', { params: { job_id: jobId } }, everyMs);
  return (
    <Panel title="Workflow" className="whole" aside={<Legend inks={Object.values(taskInks)} />}>
      <Answered answer={answer} what="the graph">
        {(graph) =>
          graph.task_count > drawnMax ? (
            <Empty title={`A graph of more than ${drawnMax} tasks is not drawn.`}>
              The chart below shows what ran where.
            </Empty>
          ) : (
            <Graph graph={graph} />
          )
        }
      </Answered>
    </Panel>
  );
}

function Graph({ graph }: { readonly graph: JobGraph }): ReactNode {
  const { explain } = usePage();
  const [workflow, setWorkflow] = useState<Workflow>();
  const [failure, setFailure] = useState('');
  const latest = useRef(graph);
  latest.current = graph;
  useEffect(() => {
    const drawn = getWorkflow(latest.current);
    let isOver = false;
    layOutWorkflow(drawn).then(
      (places) => {
        if (!isOver) setWorkflow({ ...drawn, tasks: drawn.tasks.map((task) => ({ ...task, ...places.get(task.id) })) });
      },
      (error: unknown) => setFailure(String(error)),
    );
    return () => {
      isOver = true;
    };
    // The graph of a job never changes, but that it is read in parts.
  }, [graph.job_id, graph.read_task_count, graph.edges.from.length]);
  const statuses = useMemo(() => listStatuses(graph), [graph]);
  const indexes = useMemo(() => new Map(graph.tasks.value.map((id, index) => [id, index])), [graph]);
  if (workflow === undefined)
    return failure === '' ? <Loading what="the layout" /> : <p className="refusal">{failure}</p>;
  return (
    <div className="job-graph">
      <ReactFlowProvider>
        <FlowCanvas
          workflow={workflow}
          analysis={noAnalysis}
          statuses={statuses}
          fitting={1}
          onOpen={(id) => explain({ kind: 'task', jobId: graph.job_id, taskIndex: indexes.get(id) ?? 0 })}
        />
      </ReactFlowProvider>
    </div>
  );
}

function getWorkflow({ tasks, edges }: JobGraph): Workflow {
  const ids = tasks.value;
  return {
    name: '',
    outputs: null,
    tasks: ids.map((id) => freshTask(id, 0, 0)),
    edges: edges.from.flatMap((from, index) => {
      const [one, other] = [ids[from], ids[edges.to[index] ?? -1]];
      return one === undefined || other === undefined ? [] : [{ from: one, to: other, data_bytes: 0, share: 0 }];
    }),
  };
}
