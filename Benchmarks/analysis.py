"""How long trackintel and movingpandas take for stays, cleaning and thinning of one track: CPU time, median of three.

    analysis.py TRACK.csv     columns time (milliseconds since 1970), latitude, longitude

Their rules differ from Saker's, so only times are compared. Reading the file is not counted.
"""

import statistics
import sys
import time
import warnings
from datetime import timedelta

import geopandas
import movingpandas
import pandas
import trackintel

warnings.filterwarnings("ignore")


def measure(name, unit, work):
    times = []
    for _ in range(3):
        begin = time.process_time()
        work()
        times.append(1000 * (time.process_time() - begin))
    print(f"analysis.{name}\t{statistics.median(times):.1f}\t{unit}")


table = pandas.read_csv(sys.argv[1])
times = pandas.to_datetime(table["time"], unit="ms", utc=True)
places = geopandas.points_from_xy(table["longitude"], table["latitude"], crs="EPSG:4326")

fixes = geopandas.GeoDataFrame({"user_id": 0, "tracked_at": times}, geometry=places)
fixes = trackintel.Positionfixes(fixes)
measure(
    "trackintel.stays", "ms, trackintel: stays of 10 min within 20 m",
    lambda: fixes.generate_staypoints(method="sliding", dist_threshold=20, time_threshold=10, gap_threshold=1e6))

frame = geopandas.GeoDataFrame({"t": times.dt.tz_localize(None)}, geometry=places).set_index("t")
track = movingpandas.Trajectory(frame, 1)
measure(
    "movingpandas.stays", "ms, movingpandas: stops of 10 min within 40 m across",
    lambda: movingpandas.TrajectoryStopDetector(track).get_stop_points(
        min_duration=timedelta(seconds=600), max_diameter=40))
measure(
    "movingpandas.cleaning", "ms, movingpandas: outliers over 70 m/s",
    lambda: movingpandas.OutlierCleaner(track).clean(v_max=70, units=("m", "s")))
measure(
    "movingpandas.thinning", "ms, movingpandas: thinning by time ratio to 10 m",
    lambda: movingpandas.TopDownTimeRatioGeneralizer(track).generalize(tolerance=10 / 111_000))
measure("movingpandas.length", "ms, movingpandas: length", lambda: track.get_length())
