export { AvailabilityProfile, type Segment } from './availability-profile.ts';
export { LongProfile, type UsedSlot } from './long-profile.ts';
export { FreeTime, type Hole, type HoleBounds, type VisitRectangle } from './free-time.ts';
