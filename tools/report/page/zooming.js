// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Moves and zooms the timeline: by mouse and fingers, which d3 does, and by functions for buttons
// and keys.

function makeZoom(view) {
  const zoom = d3
    .zoom()
    .scaleExtent([1, Math.max(8, view.length / 50)])
    // The wheel scrolls the page unless the timeline has been chosen, or Ctrl says otherwise.
    .filter(() => {
      const event = d3.event;
      if (event.type !== "wheel") return !event.button;
      return event.ctrlKey || event.metaKey || document.activeElement === view.canvas;
    })
    .on("zoom", () => {
      view.transform = d3.event.transform;
      requestAnimationFrame(() => drawTimeline(view));
    });
  const canvas = d3.select(view.canvas).call(zoom).on("dblclick.zoom", null);
  return {
    resized() {
      const extent = [
        [view.left, 0],
        [view.width - RIGHT, 100],
      ];
      zoom.extent(extent).translateExtent(extent);
    },
    pan: (share) =>
      canvas.call(zoom.translateBy, (-share * (view.width - view.left)) / view.transform.k, 0),
    by: (factor) => canvas.call(zoom.scaleBy, factor, [(view.left + view.width) / 2, 0]),
    whole: () => canvas.call(zoom.transform, d3.zoomIdentity),
    // So that an event takes a quarter of the width.
    to(one) {
      const scaled = Math.min(zoom.scaleExtent()[1], view.length / Math.max(one.duration * 4, 200));
      canvas.call(
        zoom.transform,
        d3.zoomIdentity
          .translate((view.left + view.width - RIGHT) / 2, 0)
          .scale(scaled)
          .translate(-wholeScale(view)(one.start + one.duration / 2), 0),
      );
    },
    // As far as it has to, so that an event is seen.
    show(one) {
      const [from, to] = zoomedScale(view).domain();
      if (one.end < from || one.start > to)
        canvas.call(zoom.translateTo, wholeScale(view)(one.start), 0);
    },
  };
}
