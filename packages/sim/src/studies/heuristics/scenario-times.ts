import { nameDraw, nameType, type JobType } from '../costa2005/scenarios.ts';
import type { HeuristicsPart } from './records.ts';
import type { HeuristicRun } from './run-chunk.ts';
import { isHeldOut, type HeuristicsTrace, type PartName, type PolicyName } from './scenarios.ts';

/** A job type with a maxPR on a trace under a policy: what every way of asking came to, at the same instants. */
export interface Scenario {
  /** Scenarios of one draw have the same instants. */
  readonly draw: string;
  readonly type: JobType;
  readonly requestsMax: number;
  /** Of instants. */
  readonly instantCount: number;
  /** By the name of the heuristic, with that of its variant behind a slash; each by instant. */
  readonly runs: ReadonlyMap<string, readonly HeuristicRun[]>;
}

/** All scenarios of a part of the study on one trace under one policy. */
export interface ScenarioGroup {
  readonly part: PartName;
  readonly trace: HeuristicsTrace;
  readonly policy: PolicyName;
  readonly scenarios: readonly Scenario[];
}

/** `100x100s-1x, maxPR 2`. */
export function nameScenario({ type, requestsMax }: Pick<Scenario, 'type' | 'requestsMax'>): string {
  return `${nameType(type)}, maxPR ${requestsMax}`;
}

/** Puts the results together by part, trace and policy, in the order in which they come. */
export function groupScenarios(parts: readonly HeuristicsPart[]): ScenarioGroup[] {
  const groups = new Map<string, HeuristicsPart[]>();
  for (const part of parts) {
    const { part: name, trace, policy } = part.chunk;
    const key = `${name} ${trace.id} ${policy}`;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(part);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined
      ? []
      : [
          {
            part: first.chunk.part,
            trace: first.chunk.trace,
            policy: first.chunk.policy,
            scenarios: getScenarios(group),
          },
        ];
  });
}

/**
 * The same scenarios with the last third of the time only, which no constant was fitted on. Instants of it are those of
 * the last slices.
 */
export function getHeldOut({ scenarios, ...group }: ScenarioGroup): ScenarioGroup {
  return {
    ...group,
    scenarios: scenarios.map((scenario) => takeRuns(scenario, ({ run }) => isHeldOut(run, scenario.instantCount))),
  };
}

function takeRuns(scenario: Scenario, isWanted: (run: HeuristicRun) => boolean): Scenario {
  return { ...scenario, runs: new Map([...scenario.runs].map(([name, runs]) => [name, runs.filter(isWanted)])) };
}

function getScenarios(group: readonly HeuristicsPart[]): Scenario[] {
  const byType = new Map<string, HeuristicsPart[]>();
  for (const part of group)
    byType.set(nameType(part.chunk.type), [...(byType.get(nameType(part.chunk.type)) ?? []), part]);
  return [...byType.values()].flatMap((same) => {
    const [first] = same;
    return first === undefined
      ? []
      : first.chunk.pending.map((requestsMax) => ({
          draw: nameDraw(first.chunk.type),
          type: first.chunk.type,
          requestsMax,
          instantCount: first.chunk.instantCount,
          runs: new Map(
            same.map(({ chunk, result }) => [
              nameWay(chunk),
              result.runs.filter((run) => run.requestsMax === requestsMax),
            ]),
          ),
        }));
  });
}

/** What a chunk's runs are found by in a scenario. */
export function nameWay({
  heuristic,
  variant,
}: {
  readonly heuristic: string;
  readonly variant?: { readonly id: string } | undefined;
}): string {
  return variant === undefined ? heuristic : `${heuristic}/${variant.id}`;
}
