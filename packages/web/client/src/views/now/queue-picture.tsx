import { useCallback, useMemo, type ReactNode } from 'react';
import type { AllocationRequest, ProviderDetail, QueueProfile } from '../../../../src/schema/index.ts';
import { buildQueueOption, queueInks, queueScene, queueTable } from '../../charts/queue-chart.ts';
import { sayMany } from '../../model/words.ts';
import { usePage } from '../../page-context.tsx';
import { Chart, type PressedDatum } from '../../parts/chart.tsx';
import { Legend } from '../../parts/legend.tsx';

const height = 230;

/**
 * Processors over time: their owners, free ones, and the candidates of our requests. Pressing one of our requests
 * explains it.
 */
export function QueuePicture({
  profile,
  requests,
  queue,
}: {
  readonly profile: QueueProfile;
  readonly requests: readonly AllocationRequest[];
  readonly queue: ProviderDetail['queue'];
}): ReactNode {
  const { explain } = usePage();
  const scene = useMemo(() => queueScene(profile, requests, queue?.decision ?? null), [profile, requests, queue]);
  const press = useCallback(
    ({ data }: PressedDatum) => {
      const request = scene.ours.get((data as { readonly name?: string }).name ?? '');
      if (request !== undefined)
        explain({
          kind: 'request',
          request: request.request_id.includes('/')
            ? request.request_id
            : `${request.provider_id}/${request.request_id}`,
        });
    },
    [scene, explain],
  );
  return (
    <div className="picture">
      <Legend inks={Object.values(queueInks)} />
      <Chart
        data={scene}
        build={buildQueueOption}
        table={queueTable}
        height={height}
        onPress={press}
        label={
          `Queue: ${sayMany(profile.processors, 'processor')}, ${profile.steps[0]?.free_processors ?? 0} free ` +
          `now, ${sayMany(profile.requests.length, 'request')}, ` +
          `${profile.requests.filter((one) => one.is_ours).length} of them ours.`
        }
      />
    </div>
  );
}
