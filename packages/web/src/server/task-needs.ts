import type { JobSpec, TaskGroup } from '@mutirao/api/broker';

/** What a task holds of a machine while it runs, as its job asks for it. */
export interface TaskNeed {
  readonly processors: number;
  readonly memory_bytes: number;
  readonly gpu_thousandths: number;
}

/** What each task of a job holds: a look-up by index, small whatever the size of the job. */
export function listNeeds(spec: JobSpec): (taskIndex: number) => TaskNeed {
  let end = 0;
  const groups = spec.groups.map((group) => {
    end += countTasks(group);
    return { end, need: getNeed(spec, group) };
  });
  // A job that is open for more may have got groups since.
  const other = getNeed(spec, undefined);
  return (taskIndex) => groups.find((group) => taskIndex < group.end)?.need ?? other;
}

function getNeed(spec: JobSpec, group: TaskGroup | undefined): TaskNeed {
  const { memoryBytes, gpuThousandths } = group?.resources ?? spec.resources ?? { memoryBytes: 0, gpuThousandths: 0 };
  const processors = group?.processors ?? spec.processors ?? 1;
  // Of a gang each member holds one.
  return {
    processors: spec.gang === true ? 1 : processors,
    memory_bytes: memoryBytes,
    gpu_thousandths: gpuThousandths,
  };
}

function countTasks({ values }: TaskGroup): number {
  if (values === undefined) return 0;
  return values.$case === 'range' ? values.value.count : values.value.values.length;
}
