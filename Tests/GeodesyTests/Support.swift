import Geodesy

func metres(_ left: Degrees, _ right: Degrees) -> Double { GreatCircle.distance(from: left, to: right) }
