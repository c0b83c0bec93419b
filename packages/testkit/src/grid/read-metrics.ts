import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { metricsTokenPath, readToken } from '@mutirao/runtime/files';

/**
 * What a process of a home folder answers at /metrics. @param file where it wrote down its addresses: `broker.json`,
 * `providers/ID/provider.json`.
 */
export async function readMetrics(home: string, file = 'broker.json'): Promise<string> {
  const { metricsAddress } = JSON.parse(readFileSync(join(home, file), 'utf8')) as { metricsAddress: string };
  const response = await fetch(`http://${metricsAddress}/metrics`, {
    headers: { authorization: `Bearer ${readToken(metricsTokenPath(home))}` },
  });
  if (!response.ok) throw new Error(`/metrics of ${file} answers ${response.status}: ${await response.text()}`);
  return response.text();
}
