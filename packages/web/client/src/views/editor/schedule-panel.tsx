import { useEffect, useState, type ReactNode } from 'react';
import type { PlanPlatform, Workflow, WorkflowPlan } from '../../../../src/schema/index.ts';
import { buildPlanOption, planHeight, planRowsMax, planTable } from '../../charts/plan-chart.ts';
import { getProblem } from '../../gateway/gateway.ts';
import { sayDuration, sayMany } from '../../model/words.ts';
import { useAnswer, useDraft, usePage } from '../../page-context.tsx';
import { Chart } from '../../parts/chart.tsx';
import { Empty, Loading } from '../../parts/notices.tsx';
import { NumberField, TextField } from './property-fields.tsx';

interface Choice {
  readonly algorithm: string;
  readonly kind: PlanPlatform['kind'];
  readonly processors: number;
  readonly speed: number;
  readonly list: string;
}

/**
 * A schedule of the workflow as it is drawn, by any algorithm on any processors; made again some moments after each
 * change.
 */
export function SchedulePanel({
  workflow,
  fault,
}: {
  readonly workflow: Workflow;
  readonly fault: string | undefined;
}): ReactNode {
  const [choice, setChoice] = useDraft<Choice>('schedule', {
    algorithm: 'auto',
    kind: 'uniform',
    processors: 4,
    speed: 1000,
    list: '',
  });
  const { plan, refusal, isPlanning } = usePlan(workflow, {
    choice,
    isPossible: fault === undefined && workflow.tasks.length > 0,
  });
  return (
    <div className="properties">
      <PlanFields choice={choice} setChoice={setChoice} />
      {refusal === '' ? null : (
        <p className="refusal" role="alert">
          {refusal}
        </p>
      )}
      {workflow.tasks.length === 0 ? (
        <Empty title="Nothing to plan: the workflow has no tasks." />
      ) : fault === undefined ? (
        <Planned plan={plan} isOld={isPlanning} isRefused={refusal !== ''} />
      ) : (
        <p className="refusal">{fault}</p>
      )}
    </div>
  );
}

/** The algorithm, and the processors to plan for. */
function PlanFields({
  choice,
  setChoice,
}: {
  readonly choice: Choice;
  readonly setChoice: (choice: Choice) => void;
}): ReactNode {
  const choices = useAnswer('getWorkflowChoices', {});
  return (
    <>
      <div className="fields">
        <div className="field">
          <label htmlFor="plan-algorithm">Algorithm</label>
          <select
            id="plan-algorithm"
            value={choice.algorithm}
            onChange={(event) => setChoice({ ...choice, algorithm: event.target.value })}
          >
            {(choices.value?.algorithms ?? [choice.algorithm]).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor="plan-platform">Processors</label>
          <select
            id="plan-platform"
            value={choice.kind}
            onChange={(event) => setChoice({ ...choice, kind: event.target.value as PlanPlatform['kind'] })}
          >
            <option value="uniform">all alike</option>
            <option value="grid">what the grid has now</option>
            <option value="list">as listed</option>
          </select>
        </div>
      </div>
      {choice.kind === 'uniform' ? (
        <div className="fields">
          <NumberField
            id="plan-count"
            label="How many"
            value={choice.processors}
            whole
            least={1}
            onChange={(processors) => setChoice({ ...choice, processors: Math.min(4096, processors) })}
          />
          <NumberField
            id="plan-speed"
            label="Mflop/s each"
            value={choice.speed}
            least={0.001}
            onChange={(speed) => setChoice({ ...choice, speed })}
          />
        </div>
      ) : null}
      {choice.kind === 'list' ? (
        <TextField
          id="plan-list"
          label="Processors"
          hint="one per line: number host address Mflop/s"
          value={choice.list}
          rows={4}
          code
          onChange={(list) => setChoice({ ...choice, list })}
        />
      ) : null}
    </>
  );
}

function Planned({
  plan,
  isOld,
  isRefused,
}: {
  readonly plan: WorkflowPlan | undefined;
  readonly isOld: boolean;
  readonly isRefused: boolean;
}): ReactNode {
  if (plan !== undefined) return <PlanPicture plan={plan} isOld={isOld} />;
  return isRefused ? null : <Loading what="the schedule" />;
}

function getPlatform({ kind, processors, speed, list }: Choice): PlanPlatform {
  if (kind === 'grid') return { kind };
  return kind === 'uniform' ? { kind, processors, speed_mflops: speed } : { kind, text: list };
}

function usePlan(
  workflow: Workflow,
  { choice, isPossible }: { readonly choice: Choice; readonly isPossible: boolean },
): { readonly plan: WorkflowPlan | undefined; readonly refusal: string; readonly isPlanning: boolean } {
  const { gateway } = usePage();
  const [state, setState] = useState<{
    readonly plan: WorkflowPlan | undefined;
    readonly refusal: string;
    readonly of: unknown;
  }>({ plan: undefined, refusal: '', of: undefined });
  useEffect(() => {
    if (!isPossible) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      gateway
        .call('planWorkflow', {
          body: { workflow, algorithm: choice.algorithm, platform: getPlatform(choice) },
          signal: abort.signal,
        })
        .then(
          (plan) => setState({ plan, refusal: '', of: workflow }),
          (error: unknown) => {
            if (!abort.signal.aborted) setState((old) => ({ ...old, refusal: getProblem(error).message }));
          },
        );
    }, 350);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [workflow, choice, isPossible, gateway]);
  return { ...state, isPlanning: state.of !== workflow };
}

function PlanPicture({ plan, isOld }: { readonly plan: WorkflowPlan; readonly isOld: boolean }): ReactNode {
  return (
    <div className={isOld ? 'stale' : ''}>
      <p className="lead">
        Ends after <b>{sayDuration(plan.makespan_s * 1000)}</b>{' '}
        <span className="faint">
          by {plan.algorithm}; no plan ends before {sayDuration(plan.bound_s * 1000)}. {plan.speedup.toFixed(2)} times
          as fast as one processor, which uses {Math.round(plan.efficiency * 100)} % of them.
        </span>
      </p>
      <Chart
        data={plan}
        build={buildPlanOption}
        table={planTable}
        height={planHeight(plan)}
        label={
          `Planned schedule of ${sayMany(plan.placements.length, 'task')} on ` +
          `${sayMany(plan.processors.length, 'processor')}, which ends after ` +
          `${sayDuration(plan.makespan_s * 1000)}.`
        }
      />
      {plan.processors.length > planRowsMax ? (
        <p className="hint">
          The first {planRowsMax} of {plan.processors.length} processors.
        </p>
      ) : null}
    </div>
  );
}
