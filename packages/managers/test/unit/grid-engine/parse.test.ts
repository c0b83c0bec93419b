// What a real Grid Engine 8.1.9 wrote, and what is made of it.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { inOrder, parseJobs, type GridEngineJob } from '../../../src/grid-engine/parse-jobs.ts';
import { parseReservations, parseSummaries } from '../../../src/grid-engine/parse-reservations.ts';
import { parseEnvironment, parseInstances, parseQueues } from '../../../src/grid-engine/parse-resource.ts';
import { readXml, type XmlElement } from '../../../src/read-xml.ts';
import { unlimitedWalltime } from '../../../src/unlimited-walltime.ts';

function recorded(name: string): string {
  return readFileSync(new URL(`../../recordings/grid-engine/${name}`, import.meta.url), 'utf8');
}

function xml(text: string): XmlElement {
  const root = readXml(text);
  if (root === undefined) throw new Error('no XML');
  return root;
}

function jobs(text: string): readonly GridEngineJob[] {
  const listing = parseJobs(xml(text), 'ana');
  if (typeof listing === 'string') throw new Error(listing);
  return listing;
}

test('jobs are listed in the order of arrival, ours with their keys', (t) => {
  const listing = jobs(recorded('qstat-jobs.xml'));
  t.deepEqual(
    listing.map(({ id, isBroken, request }) => [
      id,
      request.status,
      request.userId,
      request.width,
      request.walltime,
      request.clientRequestId,
      request.isHeldBack ?? false,
      isBroken,
    ]),
    [
      ['51', 'running', 'ana', 3, 100_000, 'inst.q1', false, false],
      ['52', 'running', 'eve', 2, 1_800_000, '', false, false],
      ['53', 'queued', 'ana', 8, 90_000, 'inst.q2', true, false],
      ...['1', '3', '5'].map((task) => [`54.${task}`, 'queued', 'eve', 1, unlimitedWalltime, '', true, false]),
      ['55', 'queued', 'ana', 1, unlimitedWalltime, 'inst.q3', true, true],
    ],
  );
  t.is(listing[0]?.request.startsAt, 1_795_815_856_000);
  t.is(listing[2]?.request.submittedAt, 1_795_815_857_000);
  t.deepEqual(jobs(recorded('qstat-empty.xml')), []);
  const disguised = jobs(recorded('qstat-jobs.xml').replaceAll('theirs', 'mutirao.inst.q7'));
  t.is(disguised[1]?.request.clientRequestId, '', "somebody else's job does not count as ours, whatever its name");
});

test('one job that makes no sense spoils a listing', (t) => {
  const text = recorded('qstat-jobs.xml');
  for (const [from, to] of [
    ['<slots>3', '<slots>some'],
    ['<state>r', '<state>?'],
    ['<JB_job_number>51', '<JB_job_number>'],
    ['2026-11-27T21:44:16', 'yesterday'],
    ['<slots>3', '<slots>0'],
  ] as const) {
    t.regex(String(parseJobs(xml(text.replace(from, to)), 'ana')), /JB_name mutirao.inst.q1/, to);
  }
  t.is(readXml(text.slice(0, -20)), undefined, 'cut off');
  t.is(readXml('error: commlib error'), undefined);
  t.is(readXml('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), undefined);
  t.truthy(readXml(text.replace('theirs', 'the\u0001irs')), "somebody else's name does no harm");
});

test('numbers that begin again with 1 are later ones', (t) => {
  const one = (id: string): GridEngineJob => ({
    id,
    isBroken: false,
    request: {
      managerRequestId: id,
      userId: '',
      width: 1,
      walltime: 1,
      status: 'queued',
      submittedAt: 1,
      startsAt: 0,
      endedAt: 0,
      endReason: '',
      clientRequestId: '',
    },
  });
  t.deepEqual(
    inOrder(['3', '9999998', '12.2', '9999999', '12.1'].map(one)).map(({ id }) => id),
    ['9999998', '9999999', '3', '12.2', '12.1'],
  );
  t.deepEqual(
    inOrder(['30', '4', '17'].map(one)).map(({ id }) => id),
    ['4', '17', '30'],
  );
});

test('queues list their slots, and which of them are available', (t) => {
  const text = recorded('qstat-queues.xml');
  const instance = (queue: string, total: number, free: number, isUsable = true) => ({
    queue,
    host: 'localhost',
    total,
    free,
    isUsable,
  });
  t.deepEqual(parseInstances(xml(text)), [
    instance('main.q', 8, 3),
    instance('other.q', 2, 0, false),
    instance('wide.q', 4, 4),
  ]);
  const inState = (state: string) => parseInstances(xml(text.replace('<state>d', `<state>${state}`)))[1];
  for (const state of ['u', 'E', 'D', 's', 'C', 'S', 'o', 'c', 'au'])
    t.deepEqual(inState(state), instance('other.q', 2, 0, false), state);
  for (const state of ['a', 'A']) t.deepEqual(inState(state), instance('other.q', 2, 0), state);
  t.deepEqual(inState(''), instance('other.q', 2, 2));
  t.deepEqual(
    parseInstances(
      xml(
        text.replace(
          '<slots_resv>0</slots_resv>\n      <slots_total>4',
          '<slots_resv>3</slots_resv>\n      <slots_total>4',
        ),
      ),
    )[2],
    instance('wide.q', 4, 1),
  );
  t.regex(String(parseInstances(xml(text.replace('<slots_total>8', '<slots_total>-')))), /main.q@localhost/);
});

test('settings of queues and parallel environments are read, also where they differ between hosts', (t) => {
  const queues = parseQueues(recorded('qconf-queues.txt'));
  t.deepEqual(
    queues.map(({ name, walltimeMax, environments }) => [name, walltimeMax, [...environments]]),
    [
      ['other.q', undefined, ['mutirao']],
      ['main.q', 3_600_000, ['mutirao']],
      ['wide.q', 43_200_000, ['mutirao', 'make', 'smp', 'mpi']],
    ],
  );
  t.deepEqual(
    [...(parseQueues('qname a\npe_list make smp \\\n      mpi,[@big=wide]\nh_rt 90')[0]?.environments ?? [])],
    ['make', 'smp', 'mpi', '@big', 'wide'],
  );
  t.is(parseQueues('qname a\nh_rt 90')[0]?.walltimeMax, 90_000);
  t.deepEqual(parseQueues('No cluster queue or queue instance matches the phrase "a"'), []);
  const pe = recorded('qconf-pe.txt');
  t.deepEqual(parseEnvironment(pe), { name: 'mutirao', slots: 999, layout: 'any', startsElsewhere: true });
  t.like(parseEnvironment(pe.replace('$fill_up', '$pe_slots').replace('TRUE', 'FALSE')), {
    layout: 'one host',
    startsElsewhere: false,
  });
  t.like(parseEnvironment(pe.replace('$fill_up', '16')), { layout: 16 });
  t.is(parseEnvironment('nix is not a parallel environment'), undefined);
});

test('reservations of Mutirao are read with their processors, and none is overlooked', (t) => {
  t.deepEqual(parseSummaries(xml(recorded('qrstat.xml')), 'mutirao_site_'), ['7', '9']);
  const text = recorded('qrstat-ar.xml');
  const [startsAt, endsAt] = [1_795_818_582_000, 1_795_819_582_000];
  t.like(parseReservations(xml(text), 'mutirao_site_'), [
    { number: '7', reservation: { reservationId: 7, count: 3, startsAt, endsAt } },
    { number: '9' },
  ]);
  t.is(
    parseReservations(xml(text.replace('<start_time>2026-11-27T22:29:42', '<start_time>soon')), 'mutirao_site_'),
    undefined,
  );
  t.deepEqual(parseReservations(xml(text.replaceAll('<state>w', '<state>d')), 'mutirao_site_'), []);
});
