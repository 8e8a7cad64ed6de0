"""From a calibrated robot to better programs: joints and poses that make the true robot arrive."""
