import { measurePublisher } from '@mutirao/runtime/events';
import { Metrics, type SeriesDescription } from '@mutirao/runtime/metrics';
import { countCalls } from '@mutirao/runtime/rpc';
import test from 'ava';
import { BrokerMetrics } from '../../packages/broker/src/process/broker-metrics.ts';
import { measureCluster } from '../../packages/cluster/src/measure-cluster.ts';
import { measureProvider } from '../../packages/provider/src/measure-provider.ts';
import { measureReservations } from '../../packages/reservations/src/measure-reservations.ts';
import { comparePage, getTable } from './compare-page.ts';

/** Series read their values at a scrape, which these tests never make: no part of a process is needed. */
const unread = {} as never;

function getSeries(add: (metrics: Metrics) => void): readonly SeriesDescription[] {
  const metrics = new Metrics();
  add(metrics);
  return metrics.describe();
}

function describeSeries(add: (metrics: Metrics) => void): string {
  return getTable(
    ['series', 'type', 'labels', 'meaning'],
    getSeries(add).map(({ name, type, labels, help }) => [`\`${name}\``, type, labels.join(', '), help]),
  );
}

function publish(series: string): (metrics: Metrics) => void {
  return (metrics) => {
    measurePublisher(metrics, series, unread);
  };
}

const processes: Readonly<Record<string, (metrics: Metrics) => void>> = {
  'series of each server': (metrics) => {
    countCalls(metrics);
  },
  'series of broker': (metrics) => {
    new BrokerMetrics(metrics).watch(unread, unread);
    publish('mutirao_broker_events')(metrics);
  },
  'series of provider': (metrics) => {
    measureProvider(metrics, unread);
  },
  'series of cluster': (metrics) => {
    measureCluster(metrics, unread);
  },
  'series of reservations': (metrics) => {
    measureReservations(metrics, unread);
    publish('mutirao_reservations_events')(metrics);
  },
};

test('docs/reference/metrics.md has the series that the processes serve', (t) => {
  const parts = Object.fromEntries(Object.entries(processes).map(([name, add]) => [name, describeSeries(add)]));
  const { found, expected } = comparePage('reference/metrics.md', parts);
  t.is(found, expected, 'run this test with BLESS=1 and read what it changes');
});
